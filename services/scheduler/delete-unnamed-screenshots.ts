/**
 * Deletes screenshots that were uploaded and never named: by no feedback, and by no message. A screenshot is uploaded
 * before the feedback that names it, so it has a week.
 */
import type { Database, Query } from '#shared/stores/db/db.ts'
import type { Objects } from '#shared/stores/objects/objects.ts'
import { SCREENSHOTS } from '#shared/stores/objects/pictures.ts'
import { lockScreenshot } from '#shared/pilgrims/hold-screenshot.ts'
import { eachApart, type Reporting } from '#shared/stores/repeated-work.ts'

export const UNNAMED_MS = 7 * 86_400_000
/** Screenshots whose names are looked for at a time. */
const PAGE = 500

const QUEUE = 'unnamed screenshots'

const fileOf = (key: string): string => key.slice(SCREENSHOTS.length)

/** Keys that are named nowhere. An address of feedback names one picture, at its end. */
async function unnamed(sql: Query, keys: readonly string[]): Promise<readonly string[]> {
  if (keys.length === 0) return keys
  const rows = await sql<{ file: string }[]>`
    SELECT files.file FROM unnest(${keys.map(fileOf)}::text[]) AS files (file)
    WHERE files.file IN (
      SELECT right(screenshot_url, 36) FROM feedback WHERE screenshot_url LIKE '%/api/event/feedback-image/%'
      UNION ALL
      SELECT found.match[1] FROM message_chunks
      CROSS JOIN LATERAL regexp_matches(body::text, 'feedback-image/([0-9a-f]{32}\\.png)', 'g') AS found (match)
      WHERE body::text LIKE '%feedback-image/%')`
  const named = new Set(rows.map(({ file }) => file))
  return keys.filter((key) => !named.has(fileOf(key)))
}

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
  // The texts are read twice for a page of pictures, however many of them nothing names.
  const look = async (keys: readonly string[]): Promise<void> => {
    const old: string[] = []
    await eachApart(reporting, QUEUE, await unnamed(db.sql, keys), async (key) => {
      const found = await objects.head(key)
      if (found !== null && nowMs - found.modifiedAt.getTime() >= UNNAMED_MS) old.push(key)
    })
    if (old.length === 0) return
    await db.sql.begin(async (tx) => {
      for (const key of old) await lockScreenshot(tx, key)
      // Something may name them by now.
      await eachApart(reporting, QUEUE, await unnamed(tx, old), async (key) => {
        await objects.delete(key)
        deleted++
      })
    })
  }
  let page: string[] = []
  for await (const key of objects.list(SCREENSHOTS)) {
    page.push(key)
    if (page.length === PAGE) await look(page.splice(0))
  }
  await look(page)
  return deleted
}
