CREATE TABLE "ledger_books" (
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
	CONSTRAINT "ledger_books_epoch_partition_pk" PRIMARY KEY("epoch","partition")
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
DROP INDEX "flushes_succeeded_finished_at_index";--> statement-breakpoint
ALTER TABLE "dead_letters" ADD COLUMN "refusals" integer DEFAULT 1 NOT NULL;--> statement-breakpoint
CREATE INDEX "ledger_losses_at_index" ON "ledger_losses" USING btree ("at");--> statement-breakpoint
CREATE INDEX "flushes_partition_succeeded_finished_at_index" ON "flushes" USING btree ("partition","succeeded","finished_at");--> statement-breakpoint
CREATE INDEX "flushes_finished_at_index" ON "flushes" USING btree ("finished_at");