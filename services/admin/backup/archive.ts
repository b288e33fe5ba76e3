/**
 * The file of a backup: lines of JSON, compressed with zstd. The last line is the SHA-256 of all lines before it.
 * `zstdcat` shows it. It is streamed when written and when read, whatever its size.
 *
 * Lines, in this order (there may be none or many of each kind):
 *   {"backup":1,"made_at":…,"event":…,"schema":[names of the migrations that the database has applied]}
 *   {"live":[{"userId":…,"t":…,"lat":…,"lng":…}]}                                      the live map
 *   {"object":key,"type":…,"etag":…,"base64":…}                                        spooled webhook events; at the end pictures
 *   {"waiting":[{"userId":…,"entries":[{"field":…,"value":…}],"position":{…}|null}]}   pending points
 *   {"lives":[the counters of the kv's partitions]}                                    for the ledger
 *   {"rows":table,"are":[{column: value}]}                                             rows as Postgres writes them
 *   {"days":[…]} {"sequences":{name: last value}}
 *   {"end":{"rows":{table: count},"waiting":points,"objects":count,"damaged":count}}
 *   {"sha256":…}
 */
import { createReadStream, createWriteStream, existsSync, rmSync } from 'node:fs'
import { open, rename } from 'node:fs/promises'
import { once } from 'node:events'
import { dirname } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createZstdCompress, createZstdDecompress } from 'node:zlib'
import { z } from 'zod'
import { readLines } from '#shared/runtime/read-lines.ts'
import { LoggableError } from '#shared/runtime/log.ts'
import { UserId } from '#shared/contracts/fields.ts'
import { MIGRATIONS } from '#shared/stores/db/migrate.ts'
import type { Erased, PartitionCounters } from '#shared/stores/kv/kv.ts'

export const FORMAT = 1

export type Write = (line: string) => Promise<void>

export const Header = z.object({
  backup: z.number(),
  made_at: z.iso.datetime(),
  event: z.string(),
  schema: z.array(z.string()),
})
export type Header = z.infer<typeof Header>

const End = z.object({
  end: z.object({
    rows: z.record(z.string(), z.number()),
    waiting: z.number(),
    objects: z.number(),
    /** Objects that were left out, because their files were damaged. */
    damaged: z.number().default(0),
  }),
})
export type Counts = z.infer<typeof End>['end']

/**
 * Writes an archive to `path`. The file gets this name only when it is complete, synced to disk and read back. Only its
 * owner can read it.
 * @param readBack reads the written file; it does not get its name where this fails
 * @throws CommandRefused when the file exists already
 */
export async function writeArchive(
  path: string,
  fill: (write: Write) => Promise<void>,
  readBack: (written: string) => Promise<void> = async () => undefined,
): Promise<void> {
  if (existsSync(path)) throw new CommandRefused(`${path} exists already. Name another file.`)
  const partial = `${path}.partial-${crypto.randomUUID().slice(0, 8)}`
  const discard = (): void => rmSync(partial, { force: true })
  process.once('exit', discard)
  const compress = createZstdCompress()
  const written = pipeline(compress, createWriteStream(partial, { mode: 0o600, flags: 'wx' }))
  // `send` and the `await` below report the error.
  written.catch(() => undefined)
  const hash = new Bun.CryptoHasher('sha256')
  const send = async (bytes: Buffer): Promise<void> => {
    if (!compress.write(bytes)) await Promise.race([once(compress, 'drain'), written])
  }
  try {
    await fill(async (line) => {
      const bytes = Buffer.from(`${line}\n`)
      hash.update(bytes)
      await send(bytes)
    })
    await send(Buffer.from(`${JSON.stringify({ sha256: hash.digest('hex') })}\n`))
    compress.end()
    await written
    await sync(partial)
    await readBack(partial)
    await rename(partial, path)
    await sync(dirname(path))
  } catch (error) {
    compress.destroy()
    await written.catch(() => undefined)
    discard()
    throw error
  } finally {
    process.off('exit', discard)
  }
}

async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

const damaged = (path: string, cause?: unknown): CommandRefused =>
  new CommandRefused(
    `${path} is damaged: it is cut off, or its bytes have changed. Nothing is restored from it.`,
    {
      cause,
    },
  )

/**
 * Yields the lines of an archive except its last. They are verified only when the last one has been read
 * without an error.
 * @throws CommandRefused if the file cannot be read, is not an archive, or is damaged
 */
export async function* readArchive(path: string): AsyncGenerator<string> {
  const hash = new Bun.CryptoHasher('sha256')
  const file = createReadStream(path)
  const bytes = createZstdDecompress()
  pipeline(file, bytes).catch(() => undefined)
  let sealed: string | null = null
  try {
    for await (const line of readLines(bytes)) {
      if (sealed !== null) throw damaged(path)
      const text = line.toString('utf8')
      const seal = /^\{"sha256":"([0-9a-f]{64})"\}$/.exec(text)?.[1]
      if (seal !== undefined) {
        sealed = seal
        continue
      }
      hash.update(line).update('\n')
      yield text
    }
  } catch (error) {
    if (error instanceof CommandRefused) throw error
    const { code } = error as NodeJS.ErrnoException
    if (code !== undefined && /^E[A-Z]+$/.test(code))
      throw new CommandRefused(`${path} can not be read: ${(error as Error).message}`, { cause: error })
    throw damaged(path, error)
  } finally {
    file.destroy()
    bytes.destroy()
  }
  if (sealed !== hash.digest('hex')) throw damaged(path)
}

export const kindOf = (line: string): string => /^\{"(\w+)"/.exec(line)?.[1] ?? ''

export function rowsOf(line: string): { readonly table: string; readonly json: string } {
  const head = /^\{"rows":"(\w+)","are":/.exec(line)
  if (head === null) throw new CommandRefused('The backup contains a line that can not be read.')
  return { table: head[1]!, json: line.slice(head[0].length, -1) }
}

/** An operator's command cannot be executed. The message is written for the operator. */
export class CommandRefused extends LoggableError {
  override name = 'CommandRefused'
}

/** A backup that this release cannot restore. No other error implies a fault of the file. */
export class CannotRestore extends CommandRefused {
  override name = 'CannotRestore'
}

// Reads and checks a whole backup before anything is restored from it.

/** An archive that has been read to its end and that this release can restore. */
export interface Verified {
  readonly path: string
  readonly header: Header
  readonly counts: Counts
  /** Bytes of the rows as text. A database takes less than three times as many. */
  readonly rowBytes: number
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
  let rowBytes = 0
  for await (const line of readArchive(path)) {
    if (kindOf(line) === 'rows') rowBytes += Buffer.byteLength(line)
    if (DESCRIPTIVE.has(kindOf(line)) || line.startsWith('{"rows":"erasures"')) lines.push(line)
  }
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
  return { path, header, counts, rowBytes, lives, erased }
}

const Place = z.object({ t: z.number(), lat: z.number(), lng: z.number(), rough: z.boolean().default(false) })
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
