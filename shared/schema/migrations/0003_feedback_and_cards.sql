CREATE TABLE "share_cards" (
	"user_id" text PRIMARY KEY NOT NULL,
	"fingerprint" text,
	"etag" text,
	"unlocked" boolean NOT NULL,
	"points" integer NOT NULL,
	"checked_at" timestamp (3) with time zone NOT NULL,
	"failed_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "feedback" (
	"id" serial PRIMARY KEY NOT NULL,
	"user_id" text,
	"category" text NOT NULL,
	"description" text NOT NULL,
	"status" text NOT NULL,
	"screenshot_url" text,
	"device_info" text,
	"user_agent" text,
	"contact" text,
	"admin_note" text,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	"resolved_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE INDEX "feedback_user_id_index" ON "feedback" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "feedback_status_id_index" ON "feedback" USING btree ("status","id");