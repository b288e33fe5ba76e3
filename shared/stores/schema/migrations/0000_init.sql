CREATE TABLE "reported_sums" (
	"shard" integer NOT NULL,
	"name" text NOT NULL,
	"amount" bigint NOT NULL,
	"carbon_mg" bigint NOT NULL,
	CONSTRAINT "reported_sums_shard_name_pk" PRIMARY KEY("shard","name")
);
--> statement-breakpoint
CREATE TABLE "survey_counts" (
	"question" text NOT NULL,
	"answer" text NOT NULL,
	"count" integer NOT NULL,
	CONSTRAINT "survey_counts_question_answer_pk" PRIMARY KEY("question","answer")
);
--> statement-breakpoint
CREATE TABLE "survey_questions" (
	"question" text PRIMARY KEY NOT NULL,
	"responses" integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE "share_cards" (
	"user_id" text PRIMARY KEY NOT NULL,
	"fingerprint" text,
	"etag" text,
	"unlocked" boolean NOT NULL,
	"points" integer NOT NULL,
	"checked_at" timestamp (3) with time zone NOT NULL,
	"failed_at" timestamp (3) with time zone,
	"nameless_fingerprint" text,
	"nameless_etag" text
);
--> statement-breakpoint
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
CREATE TABLE "dead_letters" (
	"id" serial PRIMARY KEY NOT NULL,
	"user_id" text NOT NULL,
	"field" text NOT NULL,
	"value" text NOT NULL,
	"reason" text NOT NULL,
	"refusals" integer DEFAULT 1 NOT NULL,
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
CREATE TABLE "ledger_counters" (
	"epoch" text NOT NULL,
	"partition" integer NOT NULL,
	"stored" bigint DEFAULT 0 NOT NULL,
	"dead_letters" bigint DEFAULT 0 NOT NULL,
	"repeated" bigint DEFAULT 0 NOT NULL,
	"erased" bigint DEFAULT 0 NOT NULL,
	"settled" bigint DEFAULT 0 NOT NULL,
	"excess" bigint DEFAULT 0 NOT NULL,
	"duplicate" bigint DEFAULT 0 NOT NULL,
	"dropped" bigint DEFAULT 0 NOT NULL,
	"erased_pending" bigint DEFAULT 0 NOT NULL,
	CONSTRAINT "ledger_counters_epoch_partition_pk" PRIMARY KEY("epoch","partition")
);
--> statement-breakpoint
CREATE TABLE "ledger_callers" (
	"epoch" text NOT NULL,
	"partition" integer NOT NULL,
	"caller" text NOT NULL,
	"acknowledged" bigint DEFAULT 0 NOT NULL,
	"lost" bigint DEFAULT 0 NOT NULL,
	CONSTRAINT "ledger_callers_epoch_partition_caller_pk" PRIMARY KEY("epoch","partition","caller")
);
--> statement-breakpoint
CREATE TABLE "ledger_counts" (
	"caller" text NOT NULL,
	"name" text NOT NULL,
	"points" bigint NOT NULL,
	CONSTRAINT "ledger_counts_caller_name_pk" PRIMARY KEY("caller","name")
);
--> statement-breakpoint
CREATE TABLE "ledger_losses" (
	"id" serial PRIMARY KEY NOT NULL,
	"at" timestamp (3) with time zone NOT NULL,
	"epoch" text NOT NULL,
	"partition" integer NOT NULL,
	"points" bigint NOT NULL
);
--> statement-breakpoint
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
	"notices" jsonb,
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
CREATE TABLE "refused_line_events" (
	"digest" text PRIMARY KEY NOT NULL,
	"user_id" text,
	"event" text NOT NULL,
	"reason" text NOT NULL,
	"refused_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "rich_menus" (
	"language" text PRIMARY KEY NOT NULL,
	"menu_id" text NOT NULL,
	"digest" text NOT NULL,
	"deployed_at" timestamp (3) with time zone NOT NULL
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
CREATE TABLE "ending" (
	"id" integer PRIMARY KEY NOT NULL,
	"ended_at" timestamp (3) with time zone NOT NULL,
	"flushed_at" timestamp (3) with time zone,
	"cards_done" integer DEFAULT 0 NOT NULL,
	"cards_total" integer,
	"summary" text DEFAULT 'waiting' NOT NULL
);
--> statement-breakpoint
CREATE TABLE "erasing" (
	"subject" text PRIMARY KEY NOT NULL,
	"generation" integer NOT NULL,
	"erased_at" timestamp (3) with time zone NOT NULL,
	"erased" jsonb NOT NULL,
	"objects" jsonb NOT NULL,
	"remaining" jsonb NOT NULL,
	"trackers" jsonb DEFAULT '[]'::jsonb NOT NULL
);
--> statement-breakpoint
CREATE TABLE "erasures" (
	"user_hash" text PRIMARY KEY NOT NULL,
	"generation" integer NOT NULL,
	"erased_at" timestamp (3) with time zone NOT NULL,
	"walked" integer DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE TABLE "role_assignments" (
	"user_id" text PRIMARY KEY NOT NULL,
	"role" text NOT NULL,
	"assigned_by" text NOT NULL,
	"assigned_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "consents" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"user_id" text NOT NULL,
	"agreed" boolean NOT NULL,
	"version" text,
	"at" timestamp (3) with time zone NOT NULL
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
	"privacy_version" text,
	"consent_withdrawn" boolean DEFAULT false NOT NULL,
	"participant_status" text DEFAULT 'active' NOT NULL,
	"photo_count" integer DEFAULT 0 NOT NULL,
	"consumption" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"transport" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	"searchable" text GENERATED ALWAYS AS (lower(user_id || chr(10) || coalesce(display_name, ''))) STORED
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
CREATE TABLE "cell_changes" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"changes" "bytea" NOT NULL
);
--> statement-breakpoint
CREATE TABLE "cell_tiles" (
	"zoom" integer NOT NULL,
	"span" text NOT NULL,
	"start" timestamp (3) with time zone NOT NULL,
	"x" integer NOT NULL,
	"y" integer NOT NULL,
	"points" bigint NOT NULL,
	"users" integer NOT NULL,
	"counts" "bytea" NOT NULL,
	"people" "bytea",
	CONSTRAINT "cell_tiles_zoom_span_start_y_x_pk" PRIMARY KEY("zoom","span","start","y","x")
);
--> statement-breakpoint
CREATE TABLE "erased_cells" (
	"hour" timestamp (3) with time zone NOT NULL,
	"x" integer NOT NULL,
	"y" integer NOT NULL,
	"points" integer NOT NULL,
	CONSTRAINT "erased_cells_hour_y_x_pk" PRIMARY KEY("hour","y","x")
);
--> statement-breakpoint
CREATE TABLE "erased_days" (
	"day" date PRIMARY KEY NOT NULL,
	"pilgrims" integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE "erased_hours" (
	"hour" timestamp (3) with time zone PRIMARY KEY NOT NULL,
	"points" integer NOT NULL,
	"checkins" integer NOT NULL,
	"pilgrims" integer NOT NULL,
	"distance_mm" bigint NOT NULL,
	"carbon_mg" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "erased_modes" (
	"day" date NOT NULL,
	"mode" text NOT NULL,
	"distance_mm" bigint NOT NULL,
	"carbon_mg" bigint NOT NULL,
	CONSTRAINT "erased_modes_day_mode_pk" PRIMARY KEY("day","mode")
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
CREATE INDEX "survey_counts_question_count_answer_index" ON "survey_counts" USING btree ("question","count" DESC NULLS LAST,"answer");--> statement-breakpoint
CREATE INDEX "survey_questions_suffixed" ON "survey_questions" USING btree ("responses" DESC NULLS LAST,"question") WHERE strpos("survey_questions"."question", '_') > 0;--> statement-breakpoint
CREATE INDEX "outbox_created_at_index" ON "outbox" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "feedback_user_id_index" ON "feedback" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "feedback_status_id_index" ON "feedback" USING btree ("status","id");--> statement-breakpoint
CREATE INDEX "flushes_partition_succeeded_finished_at_index" ON "flushes" USING btree ("partition","succeeded","finished_at");--> statement-breakpoint
CREATE INDEX "flushes_finished_at_index" ON "flushes" USING btree ("finished_at");--> statement-breakpoint
CREATE INDEX "ledger_losses_at_index" ON "ledger_losses" USING btree ("at");--> statement-breakpoint
CREATE INDEX "line_events_received_at_index" ON "line_events" USING btree ("received_at");--> statement-breakpoint
CREATE INDEX "message_chunks_state_due_at_index" ON "message_chunks" USING btree ("state","due_at");--> statement-breakpoint
CREATE INDEX "message_chunks_message_id_index" ON "message_chunks" USING btree ("message_id");--> statement-breakpoint
CREATE INDEX "refused_line_events_user_id_index" ON "refused_line_events" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "audit_log_at_index" ON "audit_log" USING btree ("at");--> statement-breakpoint
CREATE INDEX "consents_user_id_index" ON "consents" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "pilgrims_who_report" ON "pilgrims" USING btree ("user_id") WHERE (consumption @? '$.* ? (@ > 0)'::jsonpath OR transport @? '$.* ? (@ > 0)'::jsonpath);--> statement-breakpoint
CREATE INDEX "survey_history_user_id_index" ON "survey_history" USING btree ("user_id");--> statement-breakpoint
-- Each flush updates the totals of everybody who walks: room on the page keeps the table small and its index unchanged.
ALTER TABLE "pilgrim_totals" SET (fillfactor = 50);--> statement-breakpoint
-- The activity exists from the beginning, and is active.
INSERT INTO "activity" ("id", "status", "version", "changed_at") VALUES (1, 'active', 1, now());--> statement-breakpoint
CREATE TABLE "trackers" (
	"id" uuid PRIMARY KEY NOT NULL,
	"user_id" text NOT NULL,
	"key_hash" text NOT NULL,
	"label" text,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "trackers_key_hash_unique" UNIQUE("key_hash")
);
--> statement-breakpoint
CREATE INDEX "trackers_user_id_index" ON "trackers" USING btree ("user_id");
--> statement-breakpoint
CREATE TABLE "shares" (
	"id" text PRIMARY KEY NOT NULL,
	"user_id" text NOT NULL,
	"made_by" text NOT NULL,
	"show_name" boolean NOT NULL,
	"live_until" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"views" integer DEFAULT 0 NOT NULL,
	"last_viewed_at" timestamp (3) with time zone,
	"live_since" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE INDEX "shares_user_id_index" ON "shares" USING btree ("user_id");
--> statement-breakpoint
CREATE UNIQUE INDEX "shares_of_bot" ON "shares" USING btree ("user_id") WHERE "shares"."made_by" = 'bot';
--> statement-breakpoint
CREATE TABLE "push_deliveries" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"message_id" uuid NOT NULL,
	"subscription_id" uuid NOT NULL,
	"user_id" text NOT NULL,
	"language" text NOT NULL,
	"state" text NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"due_at" timestamp (3) with time zone NOT NULL,
	"settled_at" timestamp (3) with time zone,
	"detail" text
);
--> statement-breakpoint
CREATE TABLE "push_subscriptions" (
	"id" uuid PRIMARY KEY NOT NULL,
	"user_id" text NOT NULL,
	"endpoint" text NOT NULL,
	"p256dh" text NOT NULL,
	"auth" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "push_subscriptions_endpoint_unique" UNIQUE("endpoint")
);
--> statement-breakpoint
CREATE INDEX "push_deliveries_state_due_at_index" ON "push_deliveries" USING btree ("state","due_at");
--> statement-breakpoint
CREATE UNIQUE INDEX "push_deliveries_message_id_subscription_id_index" ON "push_deliveries" USING btree ("message_id","subscription_id");
--> statement-breakpoint
CREATE INDEX "push_deliveries_user_id_index" ON "push_deliveries" USING btree ("user_id");
--> statement-breakpoint
CREATE INDEX "push_subscriptions_user_id_index" ON "push_subscriptions" USING btree ("user_id");
