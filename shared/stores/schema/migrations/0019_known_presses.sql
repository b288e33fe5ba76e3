-- Readable from 1.8.0
ALTER TABLE "emergencies" ADD COLUMN "known_presses" text[] DEFAULT '{}' NOT NULL;