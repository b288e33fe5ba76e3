CREATE TABLE "admin_tokens" (
	"fingerprint" text PRIMARY KEY NOT NULL,
	"hash" text NOT NULL,
	"name" text NOT NULL,
	"role" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"created_by" text NOT NULL,
	"revoked_at" timestamp (3) with time zone
);
