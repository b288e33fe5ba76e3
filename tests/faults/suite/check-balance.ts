/** Compares acknowledged requests with what is stored, handled and sent. */
import { ledgerEndpoint } from '#shared/contracts/ledger.ts'
import { rebuild } from '#services/scheduler/rebuild.ts'
import { unhandledEvents } from '#tests/helpers/unhandled-events.ts'
import { openDatabase } from '#shared/stores/db/open-database.ts'
import { createCalendar } from '#shared/core/rules/calendar.ts'
import type { FoldPoint } from '#shared/core/distance/points-to-distance.ts'
import { recompute } from '#tests/distance/reference-fold.ts'
import { dataOf } from '#tests/helpers/answers.ts'
import { until } from '#tests/helpers/wait.ts'
import { admin } from '#tests/helpers/test-stack.ts'
import type { TestSystem } from './test-system.ts'
import type { RecordedRequests } from './recorded-requests.ts'

const LEDGER_MS = 30_000

/** The time zone of the tests' settings. */
const calendar = createCalendar('Asia/Taipei')

type Row = FoldPoint & { readonly userId: string; readonly inRange: boolean }

interface Stored {
  readonly rows: readonly Row[]
  readonly fields: ReadonlySet<string>
}

const pilgrimsOf = (recorded: RecordedRequests): string => `${recorded.name}.%`

async function readStored({ sql }: TestSystem, recorded: RecordedRequests): Promise<Stored> {
  const rows = await sql<Row[]>`
    SELECT user_id AS "userId", kind, (extract(epoch FROM sent_at) * 1000)::float8 AS "sentMs",
           (extract(epoch FROM recorded_at) * 1000)::float8 AS t, lat, lng, mode, in_range AS "inRange"
    FROM gps_points WHERE user_id LIKE ${pilgrimsOf(recorded)}`
  return { rows, fields: new Set(rows.map(({ userId, kind, sentMs }) => `${userId} ${kind}${sentMs}`)) }
}

/** Acknowledged points that are missing in the table. */
export async function missing(system: TestSystem, recorded: RecordedRequests): Promise<string[]> {
  const { rows, fields } = await readStored(system, recorded)
  const places = new Set(rows.map(({ userId, kind, lat, lng }) => `${userId} ${kind} ${lat} ${lng}`))
  const timed = [...recorded.points].flatMap(([userId, mine]) =>
    [...mine].map((field) => `${userId} ${field}`),
  )
  const timeless = recorded.timeless.filter(({ answered }) => answered)
  return [
    ...timed.filter((identity) => !fields.has(identity)),
    ...timeless
      .map(({ userId, lat, lng }) => `${userId} c ${lat} ${lng}`)
      .filter((place) => !places.has(place)),
  ]
}

/** Unhandled domain events, unsent messages, and photos that are not in the database yet. */
export async function unhandled({ sql }: TestSystem, recorded: RecordedRequests): Promise<string[]> {
  const chunks = await sql<{ what: string }[]>`
    SELECT 'a message: ' || coalesce(detail, '') AS what FROM message_chunks WHERE state = 'waiting'`
  const photos = await sql<{ what: string }[]>`
    SELECT 'a photo of ' || user_id AS what FROM unnest(${[...recorded.photos.keys()]}::text[]) AS u (user_id)
    WHERE NOT EXISTS (SELECT FROM pilgrims p WHERE p.user_id = u.user_id)`
  return [...(await unhandledEvents(sql)), ...[...chunks, ...photos].map(({ what }) => what)]
}

/** The ledger's count of lost points, once nothing is in flight. */
export async function lostByLedger({ stack }: TestSystem): Promise<number> {
  const read = async () => {
    const headers = admin('manager')
    return dataOf(await stack.fetch('/api/event/admin/ledger', { headers }), ledgerEndpoint)
  }
  const options = { timeoutMs: LEDGER_MS, everyMs: 200 }
  const { lost } = await until(
    async () => {
      const ledger = await read()
      if (ledger.in_flight !== 0) throw new Error(JSON.stringify(ledger))
      return ledger
    },
    'a ledger with nothing in flight',
    options,
  )
  return lost
}

/** The differences that `bun run rebuild --check` reports. */
export async function differences({ stack }: TestSystem): Promise<string[]> {
  const lines: string[] = []
  const db = await openDatabase({ url: stack.databaseUrl, dir: '', statementMs: 0 })
  try {
    await rebuild(db, calendar, { check: true, tell: (line) => lines.push(line) })
  } finally {
    await db.close()
  }
  return lines
}

export interface Findings {
  readonly stored: number
  readonly lost: readonly string[]
  /** Points that the totals count more than once. */
  readonly doubled: number
  readonly repeatedTimeless: number
}

/** Checks everything that was stored during a fault, once nothing is in flight; adds complaints to the record. */
export async function audit(
  system: TestSystem,
  recorded: RecordedRequests,
  deadLetters: number,
): Promise<Findings> {
  const lost = await missing(system, recorded)
  const { rows } = await readStored(system, recorded)
  const excess = await auditTotals(system, recorded, rows)
  await auditRest(system, recorded, deadLetters)
  await auditMessages(system, recorded)
  const visits = rows.filter(({ kind }) => kind === 'c')
  const repeatedTimeless = recorded.timeless
    .map(({ userId, lat, lng }) =>
      visits.filter((v) => v.userId === userId && v.lat === lat && v.lng === lng),
    )
    .reduce((sum, { length }) => sum + Math.max(0, length - 1), 0)
  return { stored: recorded.answered - lost.length, lost, doubled: excess, repeatedTimeless }
}

/** @returns by how many points the totals exceed the table */
async function auditTotals(
  { sql }: TestSystem,
  recorded: RecordedRequests,
  rows: readonly Row[],
): Promise<number> {
  const totals = await sql<{ userId: string; points: number; checkins: number; mm: number; mg: number }[]>`
    SELECT user_id AS "userId", points::int, checkins::int, distance_mm::float8 AS mm, carbon_mg::float8 AS mg
    FROM pilgrim_totals WHERE user_id LIKE ${pilgrimsOf(recorded)}`
  const byUser = Map.groupBy(rows, ({ userId }) => userId)
  let excess = 0
  for (const { userId, ...held } of totals) {
    const mine = (byUser.get(userId) ?? []).filter(({ inRange }) => inRange)
    const sums = { points: 0, checkins: 0, mm: 0, mg: 0 }
    for (const day of Object.values(recompute(mine, calendar).days)) {
      sums.points += day.points
      sums.checkins += day.checkins
      sums.mm += day.distanceMm
      sums.mg += day.carbonMg
    }
    if (!Bun.deepEquals({ ...held }, sums))
      recorded.complain(
        'totals differ',
        `${userId} ${JSON.stringify(held)} recomputed ${JSON.stringify(sums)}`,
      )
    excess += Math.max(0, held.points - sums.points)
  }
  for (const userId of byUser.keys())
    if (!totals.some((total) => total.userId === userId)) recorded.complain('totals are missing', userId)
  return excess
}

async function auditRest(
  { sql }: TestSystem,
  recorded: RecordedRequests,
  deadLetters: number,
): Promise<void> {
  const letters = await sql<{ user_id: string; reason: string }[]>`
    SELECT user_id, reason FROM dead_letters WHERE user_id LIKE ${pilgrimsOf(recorded)}`
  if (letters.length !== deadLetters) recorded.complain('dead letters', JSON.stringify(letters))
  const surveys = await sql<{ user_id: string; answers: object }[]>`
    SELECT user_id, answers FROM surveys WHERE user_id LIKE ${pilgrimsOf(recorded)}`
  for (const [userId, answers] of recorded.surveys)
    if (!Bun.deepEquals(surveys.find(({ user_id }) => user_id === userId)?.answers, answers))
      recorded.complain('a survey is not stored', userId)
  const people = [...recorded.phoneNumbers.keys(), ...recorded.photos.keys()]
  const pilgrims = await sql<{ user_id: string; phone: string | null; photo_count: number }[]>`
    SELECT user_id, phone, photo_count FROM pilgrims WHERE user_id = ANY(${people})`
  const known = new Map(pilgrims.map((row) => [row.user_id, row]))
  for (const [userId, phone] of recorded.phoneNumbers)
    if (known.get(userId)?.phone !== phone) recorded.complain('a phone number is not stored', userId)
  for (const [userId, count] of recorded.photos)
    if (known.get(userId)?.photo_count !== count)
      recorded.complain('photos are miscounted', `${userId}: ${known.get(userId)?.photo_count}`)
}

async function auditMessages({ line, sql }: TestSystem, recorded: RecordedRequests): Promise<void> {
  // A message about a pause that comes after its end is recorded as expired, and not sent.
  const expired = await sql<{ text: string }[]>`
    SELECT o.payload->>'message' AS text
    FROM outbox o JOIN messages m ON m.cause_key = 'pause:' || (o.payload->>'version')
    WHERE o.subject = 'event.admin.status.paused' AND (m.state = 'expired' OR EXISTS (
      SELECT 1 FROM message_chunks c WHERE c.message_id = m.id AND c.detail LIKE 'expired%'))`
  for (const { text, recipients, certain: isCertain } of recorded.messages) {
    const certain = isCertain && !expired.some((one) => one.text === text)
    const sent = line.sent.filter((one) => JSON.stringify(one.messages).includes(text))
    for (const recipient of recipients) {
      const times = sent.filter(({ to }) => to.includes(recipient)).length
      if (times > 1 || (certain && times === 0))
        recorded.complain(`a message was sent ${times} times`, `${text} to ${recipient}`)
    }
  }
}
