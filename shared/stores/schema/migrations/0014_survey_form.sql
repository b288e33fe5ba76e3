ALTER TABLE "survey_history" ADD COLUMN "form_version" integer;--> statement-breakpoint
ALTER TABLE "surveys" ADD COLUMN "form_version" integer;