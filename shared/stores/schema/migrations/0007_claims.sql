CREATE TABLE "shown_walks" (
	"user_id" text PRIMARY KEY NOT NULL,
	"distance_mm" bigint NOT NULL,
	"carbon_mg" bigint NOT NULL,
	"anchor_lat" double precision,
	"anchor_lng" double precision,
	"anchor_at" timestamp (3) with time zone,
	"before_lat" double precision,
	"before_lng" double precision,
	"before_at" timestamp (3) with time zone,
	"until" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "pilgrims" ADD COLUMN "completion_claimed" boolean DEFAULT false NOT NULL;