-- Readable from 1.5.0
ALTER TABLE "pilgrims" ADD COLUMN "palanquin_tracker" uuid;