CREATE TABLE "trackers" (
	"id" uuid PRIMARY KEY NOT NULL,
	"user_id" text NOT NULL,
	"key_hash" text NOT NULL,
	"label" text,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "trackers_key_hash_unique" UNIQUE("key_hash")
);
--> statement-breakpoint
ALTER TABLE "erasing" ADD COLUMN "trackers" jsonb DEFAULT '[]'::jsonb NOT NULL;--> statement-breakpoint
CREATE INDEX "trackers_user_id_index" ON "trackers" USING btree ("user_id");