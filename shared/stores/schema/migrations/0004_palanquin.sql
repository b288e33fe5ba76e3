ALTER TABLE "pilgrims" ADD COLUMN "palanquin" boolean DEFAULT false NOT NULL;--> statement-breakpoint
CREATE UNIQUE INDEX "pilgrims_palanquin" ON "pilgrims" USING btree ("palanquin") WHERE palanquin;