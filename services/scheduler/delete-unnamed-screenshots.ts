/**
 * Deletes screenshots that were uploaded and never named: by no feedback, and by no message. A screenshot is uploaded
 * before the feedback that names it, so it has a week.
 */
import type { Database, Query } from '#shared/db/db.ts'
import type { Objects } from '#shared/objects/objects.ts'
import { SCREENSHOTS } from '#shared/objects/pictures.ts'
import { lockScreenshot } from '#shared/pilgrims/hold-screenshot.ts'
import { eachApart, type Reporting } from '#shared/runtime/each-apart.ts'

export const UNNAMED_MS = 7 * 86_400_000
/** Screenshots whose names are looked for at a time. */
const PAGE = 500

const fileOf = (key: string): string => key.slice(SCREENSHOTS.length)

/** Keys that are named nowhere. */
async function unnamed(sql: Query, keys: readonly string[]): Promise<readonly string[]> {
  if (keys.length === 0) return keys
  const rows = await sql<{ file: string }[]>`
    SELECT DISTINCT found.match[1] AS file FROM (
      SELECT screenshot_url AS text FROM feedback WHERE screenshot_url IS NOT NULL
      UNION ALL SELECT body::text FROM message_chunks WHERE body::text LIKE '%.png%'
    ) naming CROSS JOIN LATERAL regexp_matches(naming.text, '[0-9a-f]{32}\\.png', 'g') AS found (match)
    WHERE found.match[1] = ANY(${keys.map(fileOf)}::text[])`
  const named = new Set(rows.map(({ file }) => file))
  return keys.filter((key) => !named.has(fileOf(key)))
}

/** Deletes it unless something names it by now. */
const deleteUnnamed = (db: Pick<Database, 'sql'>, objects: Objects, key: string): Promise<boolean> =>
  db.sql.begin(async (tx) => {
    await lockScreenshot(tx, key)
    if ((await unnamed(tx, [key])).length === 0) return false
    await objects.delete(key)
    return true
  })

/**
 * Deletes what is older than `UNNAMED_MS` and named nowhere.
 * @returns number of deleted screenshots
 */
export async function deleteUnnamedScreenshots(
  db: Pick<Database, 'sql'>,
  objects: Objects,
  nowMs: number,
  reporting: Reporting,
): Promise<number> {
  let deleted = 0
  const look = async (keys: readonly string[]): Promise<void> =>
    eachApart(reporting, 'unnamed screenshots', await unnamed(db.sql, keys), async (key) => {
      const found = await objects.head(key)
      if (found === null || nowMs - found.modifiedAt.getTime() < UNNAMED_MS) return
      if (await deleteUnnamed(db, objects, key)) deleted++
    })
  let page: string[] = []
  for await (const key of objects.list(SCREENSHOTS)) {
    page.push(key)
    if (page.length === PAGE) await look(page.splice(0))
  }
  await look(page)
  return deleted
}
