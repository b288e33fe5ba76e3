CREATE TABLE "erasures" (
	"user_hash" text PRIMARY KEY NOT NULL,
	"generation" integer NOT NULL,
	"erased_at" timestamp (3) with time zone NOT NULL
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
