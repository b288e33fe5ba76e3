/** Reads and checks a whole backup before anything is restored from it. */
import { z } from 'zod'
import { UserId } from '#shared/contracts/fields.ts'
import { MIGRATIONS } from '#shared/stores/db/migrate.ts'
import type { Erased, PartitionCounters } from '#shared/stores/kv/kv.ts'
import { type Counts, End, FORMAT, Header, kindOf, readArchive, rowsOf, CommandRefused } from './archive.ts'

/** An archive that has been read to its end and that this release can restore. */
export interface Verified {
  readonly path: string
  readonly header: Header
  readonly counts: Counts
  /** Counters of the kv's partitions. */
  readonly lives: readonly PartitionCounters[]
  /** Generations of erased people, by hash. */
  readonly erased: readonly Erased[]
}

const ErasureRow = z.object({
  user_hash: z.string(),
  generation: z.number(),
  erased_at: z.string(),
  stands: z.boolean().default(false),
})

/** Kinds of lines that describe the archive. */
const DESCRIPTIVE = new Set(['backup', 'lives', 'end'])

/**
 * Reads and checks a whole archive. Restores nothing.
 * @throws CommandRefused when it is damaged, is not a backup, or was made by a newer release
 */
export async function verifyBackup(path: string): Promise<Verified> {
  let header: Header | null = null
  let counts: Counts | null = null
  let lives: PartitionCounters[] = []
  const erased: Erased[] = []
  // Lines are parsed only when the checksum of all of them is verified.
  const lines: string[] = []
  for await (const line of readArchive(path))
    if (DESCRIPTIVE.has(kindOf(line)) || line.startsWith('{"rows":"erasures"')) lines.push(line)
  for (const line of lines) {
    if (kindOf(line) === 'backup') header = Header.parse(JSON.parse(line))
    if (kindOf(line) === 'lives') lives = (JSON.parse(line) as { lives: PartitionCounters[] }).lives
    if (kindOf(line) === 'end') counts = End.parse(JSON.parse(line)).end
    if (kindOf(line) !== 'rows') continue
    for (const row of z.array(ErasureRow).parse(JSON.parse(rowsOf(line).json)))
      erased.push({
        userHash: row.user_hash,
        generation: row.generation,
        erasedMs: Date.parse(row.erased_at),
        stands: row.stands,
      })
  }
  if (header === null || counts === null) throw new CommandRefused(`${path} is not a backup of this service.`)
  const known = MIGRATIONS.map(({ name }) => name)
  const unknown = header.schema.filter((name) => !known.includes(name))
  if (header.backup > FORMAT || unknown.length > 0)
    throw new CommandRefused(
      `${path} was made by a newer release (${unknown.join(', ') || `format ${header.backup}`}): restore it with that release.`,
    )
  await checkPoints(path)
  return { path, header, counts, lives, erased }
}

const Place = z.object({ t: z.number(), lat: z.number(), lng: z.number() })
/** The kv's scripts get points as lines, so no field may contain a line break. */
const SingleLine = z.string().regex(/^[^\r\n]+$/)
export const WaitingLine = z.object({
  waiting: z.array(
    z.object({
      userId: UserId,
      entries: z.array(z.object({ field: SingleLine, value: SingleLine })),
      position: Place.nullable(),
    }),
  ),
})
export const LiveLine = z.object({ live: z.array(Place.extend({ userId: UserId })) })
/** @throws CommandRefused for points that no service can have written, because the backup has been altered */
async function checkPoints(path: string): Promise<void> {
  const contracts: Readonly<Record<string, z.ZodType>> = { waiting: WaitingLine, live: LiveLine }
  for await (const line of readArchive(path)) {
    const checked = contracts[kindOf(line)]?.safeParse(JSON.parse(line))
    if (checked?.success === false)
      throw new CommandRefused(
        `${path} contains points that no service can have written, so it has been altered. Nothing is restored from it.`,
      )
  }
}
