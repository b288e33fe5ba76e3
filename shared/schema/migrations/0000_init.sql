CREATE TABLE "handled" (
	"event_id" integer NOT NULL,
	"subscriber" text NOT NULL,
	"handled_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "handled_event_id_subscriber_pk" PRIMARY KEY("event_id","subscriber")
);
--> statement-breakpoint
CREATE TABLE "outbox" (
	"id" serial PRIMARY KEY NOT NULL,
	"subject" text NOT NULL,
	"payload" jsonb NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "dead_letters" (
	"id" serial PRIMARY KEY NOT NULL,
	"user_id" text NOT NULL,
	"field" text NOT NULL,
	"value" text NOT NULL,
	"reason" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "flushes" (
	"id" serial PRIMARY KEY NOT NULL,
	"partition" integer NOT NULL,
	"started_at" timestamp (3) with time zone NOT NULL,
	"finished_at" timestamp (3) with time zone NOT NULL,
	"stored" bigint NOT NULL,
	"duplicates" bigint NOT NULL,
	"dead_letters" integer NOT NULL,
	"succeeded" boolean NOT NULL
);
--> statement-breakpoint
CREATE TABLE "activity" (
	"id" integer PRIMARY KEY NOT NULL,
	"status" text NOT NULL,
	"version" integer NOT NULL,
	"message" text,
	"changed_at" timestamp (3) with time zone NOT NULL,
	"changed_by" text
);
--> statement-breakpoint
CREATE TABLE "audit_log" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"at" timestamp (3) with time zone NOT NULL,
	"role" text NOT NULL,
	"token_name" text NOT NULL,
	"token_fingerprint" text NOT NULL,
	"action" text NOT NULL,
	"details" jsonb NOT NULL,
	"request_id" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "pilgrims" (
	"user_id" text PRIMARY KEY NOT NULL,
	"display_name" text,
	"picture_url" text,
	"language" text,
	"phone" text,
	"survey_completed_at" timestamp (3) with time zone,
	"privacy_agreed" boolean DEFAULT false NOT NULL,
	"privacy_agreed_at" timestamp (3) with time zone,
	"participant_status" text DEFAULT 'active' NOT NULL,
	"photo_count" integer DEFAULT 0 NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "event_days" (
	"day" date PRIMARY KEY NOT NULL,
	"pilgrims" integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE "event_hours" (
	"hour" timestamp (3) with time zone PRIMARY KEY NOT NULL,
	"points" integer NOT NULL,
	"checkins" integer NOT NULL,
	"pilgrims" integer NOT NULL,
	"distance_mm" bigint NOT NULL,
	"carbon_mg" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "event_modes" (
	"day" date NOT NULL,
	"mode" text NOT NULL,
	"distance_mm" bigint NOT NULL,
	"carbon_mg" bigint NOT NULL,
	CONSTRAINT "event_modes_day_mode_pk" PRIMARY KEY("day","mode")
);
--> statement-breakpoint
CREATE TABLE "pilgrim_days" (
	"user_id" text NOT NULL,
	"day" date NOT NULL,
	"points" integer NOT NULL,
	"checkins" integer NOT NULL,
	"distance_mm" bigint NOT NULL,
	"carbon_mg" bigint NOT NULL,
	"hours" integer NOT NULL,
	"anchor_lat" double precision NOT NULL,
	"anchor_lng" double precision NOT NULL,
	"anchor_at" timestamp (3) with time zone NOT NULL,
	"before_lat" double precision,
	"before_lng" double precision,
	"before_at" timestamp (3) with time zone,
	CONSTRAINT "pilgrim_days_user_id_day_pk" PRIMARY KEY("user_id","day")
);
--> statement-breakpoint
CREATE TABLE "pilgrim_totals" (
	"user_id" text PRIMARY KEY NOT NULL,
	"points" integer DEFAULT 0 NOT NULL,
	"checkins" integer DEFAULT 0 NOT NULL,
	"distance_mm" bigint DEFAULT 0 NOT NULL,
	"carbon_mg" bigint DEFAULT 0 NOT NULL,
	"first_seen" timestamp (3) with time zone,
	"last_seen" timestamp (3) with time zone,
	"last_lat" double precision,
	"last_lng" double precision
);
--> statement-breakpoint
CREATE TABLE "gps_points" (
	"user_id" text NOT NULL,
	"kind" text NOT NULL,
	"sent_at" timestamp (3) with time zone NOT NULL,
	"recorded_at" timestamp (3) with time zone NOT NULL,
	"received_at" timestamp (3) with time zone NOT NULL,
	"lat" double precision NOT NULL,
	"lng" double precision NOT NULL,
	"accuracy" real,
	"altitude" real,
	"speed" real,
	"mode" text,
	"source" text,
	"in_range" boolean NOT NULL,
	"clock_corrected" boolean NOT NULL,
	CONSTRAINT "gps_points_user_id_kind_sent_at_pk" PRIMARY KEY("user_id","kind","sent_at")
) PARTITION BY RANGE ("sent_at");
--> statement-breakpoint
-- Points of days that have no partition of their own.
CREATE TABLE "gps_points_default" PARTITION OF "gps_points" DEFAULT;
--> statement-breakpoint
CREATE INDEX "outbox_created_at_index" ON "outbox" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "flushes_succeeded_finished_at_index" ON "flushes" USING btree ("succeeded","finished_at");--> statement-breakpoint
CREATE INDEX "audit_log_at_index" ON "audit_log" USING btree ("at");--> statement-breakpoint
-- The activity exists from the beginning, and is active.
INSERT INTO "activity" ("id", "status", "version", "changed_at") VALUES (1, 'active', 1, now());
