CREATE TABLE "followers" (
	"user_id" text PRIMARY KEY NOT NULL,
	"reachable" boolean NOT NULL,
	"changed_at" timestamp (3) with time zone NOT NULL,
	"profile_fetched_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "line_events" (
	"webhook_event_id" text PRIMARY KEY NOT NULL,
	"received_at" timestamp (3) with time zone NOT NULL,
	"applied_at" timestamp (3) with time zone,
	"answered_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "message_chunks" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"message_id" uuid NOT NULL,
	"state" text NOT NULL,
	"recipients" jsonb NOT NULL,
	"size" integer NOT NULL,
	"body" jsonb NOT NULL,
	"retry_key" uuid NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"tried_at" timestamp (3) with time zone,
	"due_at" timestamp (3) with time zone NOT NULL,
	"settled_at" timestamp (3) with time zone,
	"line_request_id" text,
	"detail" text
);
--> statement-breakpoint
CREATE TABLE "messages" (
	"id" uuid PRIMARY KEY NOT NULL,
	"cause" text NOT NULL,
	"cause_key" text NOT NULL,
	"audience" jsonb NOT NULL,
	"forced" boolean NOT NULL,
	"state" text NOT NULL,
	"recipients" integer NOT NULL,
	"left_out" jsonb NOT NULL,
	"created_by" text,
	"created_at" timestamp (3) with time zone NOT NULL,
	"completed_at" timestamp (3) with time zone,
	CONSTRAINT "messages_cause_key_unique" UNIQUE("cause_key")
);
--> statement-breakpoint
CREATE TABLE "notification_dispatches" (
	"slot" text NOT NULL,
	"day" date NOT NULL,
	"dispatched_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "notification_dispatches_slot_day_pk" PRIMARY KEY("slot","day")
);
--> statement-breakpoint
CREATE TABLE "notification_plan" (
	"id" integer PRIMARY KEY NOT NULL,
	"slots" jsonb NOT NULL,
	"changed_at" timestamp (3) with time zone NOT NULL,
	"changed_by" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "rich_menus" (
	"language" text PRIMARY KEY NOT NULL,
	"menu_id" text NOT NULL,
	"digest" text NOT NULL,
	"deployed_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE INDEX "line_events_received_at_index" ON "line_events" USING btree ("received_at");--> statement-breakpoint
CREATE INDEX "message_chunks_state_due_at_index" ON "message_chunks" USING btree ("state","due_at");--> statement-breakpoint
CREATE INDEX "message_chunks_message_id_index" ON "message_chunks" USING btree ("message_id");