CREATE TABLE "shares" (
	"id" text PRIMARY KEY NOT NULL,
	"user_id" text NOT NULL,
	"made_by" text NOT NULL,
	"show_name" boolean NOT NULL,
	"live_until" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "share_cards" ADD COLUMN "nameless_fingerprint" text;--> statement-breakpoint
ALTER TABLE "share_cards" ADD COLUMN "nameless_etag" text;--> statement-breakpoint
CREATE INDEX "shares_user_id_index" ON "shares" USING btree ("user_id");--> statement-breakpoint
CREATE UNIQUE INDEX "shares_of_bot" ON "shares" USING btree ("user_id") WHERE "shares"."made_by" = 'bot';