CREATE TABLE "erasing" (
	"subject" text PRIMARY KEY NOT NULL,
	"generation" integer NOT NULL,
	"erased_at" timestamp (3) with time zone NOT NULL,
	"erased" jsonb NOT NULL,
	"objects" jsonb NOT NULL,
	"remaining" jsonb NOT NULL
);
