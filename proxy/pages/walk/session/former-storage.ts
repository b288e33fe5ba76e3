/** Migrates values that earlier releases stored in `localStorage` to the database, and removes them. */
import type { QueueStore } from '#shared/client/index.ts'
import type { IndexedDbStore } from '#shared/client/queue/indexed-db-store.ts'
import { remember, remembered } from '../../frame/storage.ts'

const PREFIX = 'event-walk-'
/** Keys that this release uses while the database fails. */
const STAYS = /^event-walk-(aside |to-clear$)/

/** Keys of values that earlier releases stored. */
function formerKeys(): readonly string[] {
  try {
    return Object.keys(localStorage).filter((key) => key.startsWith(PREFIX) && !STAYS.test(key))
  } catch {
    return []
  }
}

/**
 * Moves the values of releases before 1.4.0. Values already in the database are newer. Call it after {@link
 * moveFormerEntries}, which reads some of them.
 * @throws what the store throws; the values then stay where they were
 */
export async function moveFormerValues(store: IndexedDbStore): Promise<void> {
  const keys = formerKeys()
  if (keys.length === 0) return
  const names = keys.map((key) => key.slice('event-'.length))
  const stored = await store.values((name) => names.includes(name))
  const moved = names.filter((name) => !stored.has(name)).map((name) => [name, parsed(name)] as const)
  await store.setValues(new Map(moved.filter(([, value]) => value !== null)), 'strict')
  for (const name of names) remember(name, null)
}

function parsed(name: string): unknown {
  try {
    return JSON.parse(remembered(name) ?? 'null')
  } catch {
    return null
  }
}

interface FormerRefusal {
  readonly report: { readonly userId: string }
  readonly error: { readonly code: string; readonly message: string }
}

/**
 * Moves pending entries of releases before 1.3.0: reports and a survey. Each keeps its owner. Repeating it
 * after an interruption duplicates nothing, because entries of a report share its key.
 * @throws what the store throws; the entries then stay where they were
 */
export async function moveFormerEntries(store: QueueStore): Promise<void> {
  const reports = parsed('walk-reports') as { readonly userId: string }[] | null
  if (Array.isArray(reports) && reports.length > 0)
    await store.add(reports.map(({ userId, ...fields }, t) => ({ userId, kind: 'report', t, fields })))
  if (reports !== null) remember('walk-reports', null)
  const refused = parsed('walk-report-refused') as FormerRefusal | null
  if (refused !== null) {
    const { userId, ...fields } = refused.report
    const entry = { userId, kind: 'report', t: reports?.length ?? 0, fields }
    await store.add([entry])
    await store.settle([], [{ ...entry, reason: refused.error.code, message: refused.error.message }])
    remember('walk-report-refused', null)
  }
  const userId = parsed('walk-survey-waits')
  if (typeof userId === 'string' && userId !== '')
    await store.add([{ userId, kind: 'survey', t: 0, fields: { answers: parsed('walk-survey') ?? {} } }])
  if (userId !== null) remember('walk-survey-waits', null)
}
