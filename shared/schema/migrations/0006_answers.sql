CREATE TABLE "reported_sums" (
	"shard" integer NOT NULL,
	"name" text NOT NULL,
	"amount" bigint NOT NULL,
	"carbon_mg" bigint NOT NULL,
	CONSTRAINT "reported_sums_shard_name_pk" PRIMARY KEY("shard","name")
);
--> statement-breakpoint
CREATE TABLE "survey_counts" (
	"question" text NOT NULL,
	"answer" text NOT NULL,
	"count" integer NOT NULL,
	CONSTRAINT "survey_counts_question_answer_pk" PRIMARY KEY("question","answer")
);
--> statement-breakpoint
CREATE TABLE "survey_questions" (
	"question" text PRIMARY KEY NOT NULL,
	"responses" integer NOT NULL
);
--> statement-breakpoint
ALTER TABLE "erasures" ADD COLUMN "walked" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "pilgrims" ADD COLUMN "searchable" text GENERATED ALWAYS AS (lower(user_id || chr(10) || coalesce(display_name, ''))) STORED;--> statement-breakpoint
CREATE INDEX "survey_counts_question_count_answer_index" ON "survey_counts" USING btree ("question","count" DESC NULLS LAST,"answer");--> statement-breakpoint
-- Each flush updates the totals of everybody who walks: room on the page keeps the table small and its index still.
ALTER TABLE "pilgrim_totals" SET (fillfactor = 50);--> statement-breakpoint
-- What is there already, counted once; from here on each writer books what it changes.
INSERT INTO "reported_sums" ("shard", "name", "amount", "carbon_mg")
WITH factors (kind, name, factor) AS (VALUES
	('unit', 'water', 109740), ('unit', 'recycle', -2650), ('unit', 'hotel', 8850000::float8),
	('km', 'walk', 0), ('km', 'car', 0.30479), ('km', 'scooter', 0.13734), ('km', 'bike', 0.0122), ('km', 'bus', 0.47515),
	('km', 'mrt', 0.07575), ('km', 'train', 0.07575), ('km', 'hsr', 0.07487)
), amounts AS (
	SELECT f.name, (p.consumption->>f.name)::float8 AS amount, (p.consumption->>f.name)::float8 * f.factor AS mg
	FROM factors f, pilgrims p WHERE f.kind = 'unit' AND p.consumption ? f.name
	UNION ALL
	SELECT f.name, k.mm, k.mm * f.factor
	FROM pilgrims p, jsonb_each_text(p.transport) t
	LEFT JOIN factors known ON known.kind = 'km' AND known.name = t.key
	JOIN factors f ON f.kind = 'km' AND f.name = coalesce(known.name, 'bus'),
	LATERAL (SELECT floor(t.value::float8 * 1e6 + 0.5) AS mm) k
)
SELECT 0, name, sum(amount)::bigint, sum(floor(mg + 0.5))::bigint FROM amounts GROUP BY name;--> statement-breakpoint
INSERT INTO "survey_questions" ("question", "responses")
SELECT '', count(*) FROM surveys HAVING count(*) > 0
UNION ALL SELECT k, count(*) FROM surveys, jsonb_object_keys(answers) k GROUP BY k;--> statement-breakpoint
INSERT INTO "survey_counts" ("question", "answer", "count")
SELECT e.key, a.answer, count(*) FROM surveys s, jsonb_each(s.answers) e, LATERAL jsonb_array_elements_text(
	CASE jsonb_typeof(e.value) WHEN 'array' THEN e.value ELSE jsonb_build_array(e.value) END) a (answer)
WHERE length(a.answer) <= 100 GROUP BY 1, 2;--> statement-breakpoint
UPDATE "erasures" SET "walked" = "generation";
