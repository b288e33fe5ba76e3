-- Readable from 1.5.0
ALTER TABLE "dead_letters" ADD COLUMN "requeued" boolean DEFAULT false NOT NULL;