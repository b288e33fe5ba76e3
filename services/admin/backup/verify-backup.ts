/** Reading a backup through before anything is taken from it. */
import { z } from 'zod'
import { UserId } from '#shared/contracts/fields.ts'
import { MIGRATIONS } from '#shared/db/migrate.ts'
import type { Erased, PartitionCounters } from '#shared/kv/kv.ts'
import { type Counts, End, FORMAT, Header, kindOf, readArchive, rowsOf } from './archive.ts'
import { CommandRefused } from './command-refused.ts'

/** An archive that has been read to its end, and is for this release. */
export interface Verified {
  readonly path: string
  readonly header: Header
  readonly counts: Counts
  /** What the kv had counted. */
  readonly lives: readonly PartitionCounters[]
  /** Generations of erased people, by hash. */
  readonly erased: readonly Erased[]
}

const ErasureRow = z.object({ user_hash: z.string(), generation: z.number(), erased_at: z.string() })

/** Lines that tell what an archive is. */
const TOLD = new Set(['backup', 'lives', 'end'])

/**
 * Reads an archive through, and takes nothing from it.
 * @throws CommandRefused when it is damaged, no backup, or of a newer release
 */
export async function verifyBackup(path: string): Promise<Verified> {
  let header: Header | null = null
  let counts: Counts | null = null
  let lives: PartitionCounters[] = []
  const erased: Erased[] = []
  // What a line says is looked at only once all of them are known to be as they were written.
  const lines: string[] = []
  for await (const line of readArchive(path))
    if (TOLD.has(kindOf(line)) || line.startsWith('{"rows":"erasures"')) lines.push(line)
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
      })
  }
  if (header === null || counts === null) throw new CommandRefused(`${path} is no backup of this service.`)
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
/** The kv is told of points in lines; each of these stays within one. */
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
/** @throws CommandRefused for points that no service of ours has written: somebody has altered the backup */
async function checkPoints(path: string): Promise<void> {
  const contracts: Readonly<Record<string, z.ZodType>> = { waiting: WaitingLine, live: LiveLine }
  for await (const line of readArchive(path)) {
    const checked = contracts[kindOf(line)]?.safeParse(JSON.parse(line))
    if (checked?.success === false)
      throw new CommandRefused(
        `${path} holds points as no service of ours writes them, so it has been altered. Nothing is taken from it.`,
      )
  }
}
