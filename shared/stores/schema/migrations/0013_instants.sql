-- Instants as epoch milliseconds. Both functions are inlined into the statements that call them.
CREATE OR REPLACE FUNCTION epoch_ms(timestamptz) RETURNS float8 LANGUAGE sql STABLE PARALLEL SAFE
AS 'SELECT (extract(epoch FROM $1) * 1000)::float8';--> statement-breakpoint
CREATE OR REPLACE FUNCTION from_epoch_ms(float8) RETURNS timestamptz LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS 'SELECT to_timestamp($1 / 1000)';
