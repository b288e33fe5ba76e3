CREATE TABLE "consents" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"user_id" text NOT NULL,
	"agreed" boolean NOT NULL,
	"version" text,
	"at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "survey_history" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"user_id" text NOT NULL,
	"answers" jsonb NOT NULL,
	"revision" integer NOT NULL,
	"submitted_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "surveys" (
	"user_id" text PRIMARY KEY NOT NULL,
	"answers" jsonb NOT NULL,
	"revision" integer NOT NULL,
	"submitted_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "pilgrims" ADD COLUMN "privacy_version" text;--> statement-breakpoint
ALTER TABLE "pilgrims" ADD COLUMN "consent_withdrawn" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "pilgrims" ADD COLUMN "consumption" jsonb DEFAULT '{}'::jsonb NOT NULL;--> statement-breakpoint
ALTER TABLE "pilgrims" ADD COLUMN "transport" jsonb DEFAULT '{}'::jsonb NOT NULL;--> statement-breakpoint
CREATE INDEX "consents_user_id_index" ON "consents" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "survey_history_user_id_index" ON "survey_history" USING btree ("user_id");