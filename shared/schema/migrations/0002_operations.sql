CREATE TABLE "ending" (
	"id" integer PRIMARY KEY NOT NULL,
	"ended_at" timestamp (3) with time zone NOT NULL,
	"flushed_at" timestamp (3) with time zone,
	"cards_done" integer DEFAULT 0 NOT NULL,
	"cards_total" integer,
	"summary" text DEFAULT 'waiting' NOT NULL
);
--> statement-breakpoint
CREATE TABLE "role_assignments" (
	"user_id" text PRIMARY KEY NOT NULL,
	"role" text NOT NULL,
	"assigned_by" text NOT NULL,
	"assigned_at" timestamp (3) with time zone NOT NULL
);
