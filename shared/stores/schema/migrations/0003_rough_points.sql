ALTER TABLE "pilgrim_days" ALTER COLUMN "anchor_lat" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "pilgrim_days" ALTER COLUMN "anchor_lng" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "pilgrim_days" ALTER COLUMN "anchor_at" DROP NOT NULL;