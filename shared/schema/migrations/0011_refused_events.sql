CREATE TABLE "refused_line_events" (
	"digest" text PRIMARY KEY NOT NULL,
	"user_id" text,
	"event" text NOT NULL,
	"reason" text NOT NULL,
	"refused_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE INDEX "refused_line_events_user_id_index" ON "refused_line_events" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "survey_questions_suffixed" ON "survey_questions" USING btree ("responses" DESC NULLS LAST,"question") WHERE strpos("survey_questions"."question", '_') > 0;
--> statement-breakpoint
-- An address that is not https is shown to nobody.
UPDATE "pilgrims" SET "picture_url" = NULL WHERE "picture_url" !~* '^https://';
--> statement-breakpoint
-- Q1 is q1, also where it was stored as it came; of two the one in small letters holds.
UPDATE "surveys" SET "answers" = (
  SELECT jsonb_object_agg(name, value) FROM (
    SELECT DISTINCT ON (regexp_replace(key, '^Q', 'q')) regexp_replace(key, '^Q', 'q') AS name, value
    FROM jsonb_each("answers") ORDER BY regexp_replace(key, '^Q', 'q'), key LIKE 'Q%') named)
WHERE EXISTS (SELECT FROM jsonb_object_keys("answers") key WHERE key LIKE 'Q%');
--> statement-breakpoint
DELETE FROM "survey_questions";
--> statement-breakpoint
DELETE FROM "survey_counts";
--> statement-breakpoint
INSERT INTO "survey_questions" ("question", "responses")
SELECT '', count(*) FROM "surveys" HAVING count(*) > 0
UNION ALL SELECT key, count(*) FROM "surveys", jsonb_object_keys("answers") key GROUP BY key;
--> statement-breakpoint
INSERT INTO "survey_counts" ("question", "answer", "count")
SELECT e.key, a.answer, count(*) FROM "surveys", jsonb_each("answers") e, LATERAL jsonb_array_elements_text(
  CASE jsonb_typeof(e.value) WHEN 'array' THEN e.value ELSE jsonb_build_array(e.value) END) a (answer)
WHERE length(a.answer) <= 100 GROUP BY e.key, a.answer;
