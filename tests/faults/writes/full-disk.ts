/** A Postgres whose disk is full: after some statements that write rows, every further one fails as on a full disk. */
import type { Database } from '#shared/stores/db/db.ts'
import type { LinkCondition } from '#tests/helpers/tcp-proxy.ts'

/** @returns the part of a `TcpProxy` that fills the disk: a statement that writes rows is a message */
export async function openFullDisk({ sql }: Pick<Database, 'sql'>, tables: readonly string[]) {
  await sql.unsafe(`
    CREATE SCHEMA disk;
    CREATE SEQUENCE disk.writes;
    CREATE TABLE disk.room (writes int);
    INSERT INTO disk.room VALUES (NULL);
    CREATE FUNCTION disk.write() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      -- The sequence counts rolled back statements, too.
      IF nextval('disk.writes') > (SELECT writes FROM disk.room) THEN
        RAISE 'could not extend file: No space left on device' USING ERRCODE = 'disk_full';
      END IF;
      RETURN NULL;
    END $$;
    ${tables
      .map(
        (table) => `CREATE TRIGGER disk BEFORE INSERT OR UPDATE ON ${table}
          FOR EACH STATEMENT EXECUTE FUNCTION disk.write();`,
      )
      .join('\n')}`)
  return {
    get messages(): Promise<number> {
      return sql<[{ n: number }]>`
        SELECT CASE WHEN is_called THEN last_value ELSE 0 END::int AS n FROM disk.writes`.then(([{ n }]) => n)
    },
    async set(condition: LinkCondition): Promise<void> {
      const room = condition.kind === 'fault' ? condition.after : null
      await sql`SELECT setval('disk.writes', 1, false)`
      await sql`UPDATE disk.room SET writes = ${room}`
    },
  }
}
