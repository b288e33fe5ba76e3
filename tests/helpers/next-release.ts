/** A release after this one. */
import { join } from 'node:path'
import { RELEASE } from '#shared/runtime/release.ts'

/** Adds a migration to a copy of the tree that this release can read. */
export async function addNextMigration(root: string): Promise<void> {
  const migrations = join(root, 'shared/stores/schema/migrations')
  const journal = JSON.parse(await Bun.file(join(migrations, 'meta/_journal.json')).text()) as {
    entries: { tag: string; when: number }[]
  }
  const last = journal.entries.at(-1)!
  journal.entries.push({ ...last, tag: '9999_next', when: last.when + 1 })
  await Bun.write(join(migrations, 'meta/_journal.json'), JSON.stringify(journal))
  await Bun.write(
    join(migrations, '9999_next.sql'),
    `-- Readable from ${RELEASE}
      CREATE TABLE next_steps (user_id text PRIMARY KEY, steps integer NOT NULL);--> statement-breakpoint
      ALTER TABLE pilgrims ADD COLUMN shoe_size integer DEFAULT 42 NOT NULL`,
  )
}
