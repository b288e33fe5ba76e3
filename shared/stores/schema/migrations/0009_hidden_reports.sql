ALTER TABLE "feedback" ADD COLUMN "hidden_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "feedback" ADD COLUMN "hidden_reason" text;--> statement-breakpoint
CREATE INDEX "feedback_category_id_index" ON "feedback" USING btree ("category","id");