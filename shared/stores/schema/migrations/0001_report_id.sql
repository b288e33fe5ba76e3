ALTER TABLE "feedback" ADD COLUMN "report_id" uuid;--> statement-breakpoint
CREATE UNIQUE INDEX "feedback_report_id_index" ON "feedback" USING btree ("report_id");