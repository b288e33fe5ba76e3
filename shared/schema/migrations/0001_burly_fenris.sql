ALTER TABLE "shares" ADD COLUMN "views" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "shares" ADD COLUMN "last_viewed_at" timestamp (3) with time zone;