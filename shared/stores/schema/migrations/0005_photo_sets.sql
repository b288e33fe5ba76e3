ALTER TABLE "line_events" ADD COLUMN "photo_id" text;--> statement-breakpoint
ALTER TABLE "line_events" ADD COLUMN "unsent_id" text;--> statement-breakpoint
ALTER TABLE "line_events" ADD COLUMN "image_set_id" text;--> statement-breakpoint
CREATE INDEX "line_events_photo_id_index" ON "line_events" USING btree ("photo_id") WHERE "line_events"."photo_id" IS NOT NULL;--> statement-breakpoint
CREATE INDEX "line_events_unsent_id_index" ON "line_events" USING btree ("unsent_id") WHERE "line_events"."unsent_id" IS NOT NULL;--> statement-breakpoint
CREATE INDEX "line_events_image_set_id_index" ON "line_events" USING btree ("image_set_id") WHERE "line_events"."image_set_id" IS NOT NULL;