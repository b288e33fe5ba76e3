CREATE TABLE "event_settings" (
	"version" integer NOT NULL,
	"part" text NOT NULL,
	"value" jsonb NOT NULL,
	"changed_at" timestamp (3) with time zone NOT NULL,
	"changed_by" text,
	CONSTRAINT "event_settings_version_part_pk" PRIMARY KEY("version","part")
);
