CREATE TABLE "emergencies" (
	"id" uuid PRIMARY KEY NOT NULL,
	"user_id" text NOT NULL,
	"source" text NOT NULL,
	"sent_at" timestamp (3) with time zone NOT NULL,
	"first_press_at" timestamp (3) with time zone NOT NULL,
	"last_press_at" timestamp (3) with time zone NOT NULL,
	"presses" integer NOT NULL,
	"lat" double precision,
	"lng" double precision,
	"accuracy" real,
	"place_at" timestamp (3) with time zone,
	"raised_at" timestamp (3) with time zone NOT NULL,
	"confirmed_at" timestamp (3) with time zone,
	"confirmed_by" text
);
--> statement-breakpoint
CREATE INDEX "emergencies_user_id_index" ON "emergencies" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "emergencies_raised_at_index" ON "emergencies" USING btree ("raised_at");--> statement-breakpoint
CREATE UNIQUE INDEX "emergencies_unconfirmed" ON "emergencies" USING btree ("user_id") WHERE confirmed_at IS NULL;