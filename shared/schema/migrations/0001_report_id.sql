ALTER TABLE "feedback" ADD COLUMN "report_id" uuid;--> statement-breakpoint
ALTER TABLE "feedback" ADD CONSTRAINT "feedback_report_id_unique" UNIQUE("report_id");