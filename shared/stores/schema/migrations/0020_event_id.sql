-- Readable from 1.8.0
ALTER TABLE "activity" ADD COLUMN "event_id" uuid;--> statement-breakpoint
ALTER TABLE "activity" ALTER COLUMN "event_id" SET DEFAULT gen_random_uuid();--> statement-breakpoint
UPDATE "activity" SET "event_id" = gen_random_uuid();