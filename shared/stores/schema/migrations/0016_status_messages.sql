-- Readable from 1.5.0
ALTER TABLE "activity" ADD COLUMN "messages" jsonb;