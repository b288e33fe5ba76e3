CREATE TABLE "cell_changes" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"changes" "bytea" NOT NULL
);
--> statement-breakpoint
CREATE TABLE "cell_tiles" (
	"zoom" integer NOT NULL,
	"span" text NOT NULL,
	"start" timestamp (3) with time zone NOT NULL,
	"x" integer NOT NULL,
	"y" integer NOT NULL,
	"points" bigint NOT NULL,
	"users" integer NOT NULL,
	"counts" "bytea" NOT NULL,
	CONSTRAINT "cell_tiles_zoom_span_start_y_x_pk" PRIMARY KEY("zoom","span","start","y","x")
);
--> statement-breakpoint
CREATE TABLE "erased_cells" (
	"hour" timestamp (3) with time zone NOT NULL,
	"x" integer NOT NULL,
	"y" integer NOT NULL,
	"points" integer NOT NULL,
	CONSTRAINT "erased_cells_hour_y_x_pk" PRIMARY KEY("hour","y","x")
);
--> statement-breakpoint
-- Both are packed already.
ALTER TABLE "cell_changes" ALTER COLUMN "changes" SET STORAGE EXTERNAL;
--> statement-breakpoint
ALTER TABLE "cell_tiles" ALTER COLUMN "counts" SET STORAGE EXTERNAL;
