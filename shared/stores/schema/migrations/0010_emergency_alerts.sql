ALTER TABLE "emergencies" ADD COLUMN "alerts" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "emergencies" ADD COLUMN "next_alert_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "emergencies" ADD COLUMN "reached" integer;