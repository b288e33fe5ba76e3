ALTER TABLE "cell_tiles" ADD COLUMN "people" "bytea";
--> statement-breakpoint
-- Packed already, as the counts are.
ALTER TABLE "cell_tiles" ALTER COLUMN "people" SET STORAGE EXTERNAL;
