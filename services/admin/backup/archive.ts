/**
 * A backup's file: lines of JSON, compressed by zstd, the last one the SHA-256 of all before it. `zstdcat` shows
 * it. Both sides stream it, whatever its size.
 *
 * Lines, in this order (each kind may have none or many):
 *   {"backup":1,"made_at":…,"event":…,"schema":[names of the migrations that the database has had]}
 *   {"live":[{"userId":…,"t":…,"lat":…,"lng":…}]}                                      the live map
 *   {"object":key,"type":…,"etag":…,"base64":…}                                        spooled events; at the end pictures
 *   {"waiting":[{"userId":…,"entries":[{"field":…,"value":…}],"position":{…}|null}]}   points not yet in the database
 *   {"lives":[the books of the kv's partitions]}                                       what the ledger is to know
 *   {"rows":table,"are":[{column: value}]}                                             as Postgres writes rows
 *   {"days":[…]} {"sequences":{name: last value}}
 *   {"end":{"rows":{table: count},"waiting":points,"objects":count}}
 *   {"sha256":…}
 */
import { createReadStream, createWriteStream, existsSync } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { once } from 'node:events'
import { dirname } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createZstdCompress, createZstdDecompress } from 'node:zlib'
import { z } from 'zod'
import { readLines } from '#shared/runtime/read-lines.ts'
import { CommandRefused } from './command-refused.ts'

export const FORMAT = 1

/** Takes one line, without its newline; resolves when there is room for the next. */
export type Write = (line: string) => Promise<void>

export const Header = z.object({
  backup: z.number(),
  made_at: z.iso.datetime(),
  event: z.string(),
  schema: z.array(z.string()),
})
export type Header = z.infer<typeof Header>

export const End = z.object({
  end: z.object({ rows: z.record(z.string(), z.number()), waiting: z.number(), objects: z.number() }),
})
export type Counts = z.infer<typeof End>['end']

/**
 * Writes an archive at `path`, which bears its name only once it is whole and on the disk; readable by its owner.
 * @throws CommandRefused when there is such a file already
 */
export async function writeArchive(path: string, fill: (write: Write) => Promise<void>): Promise<void> {
  if (existsSync(path)) throw new CommandRefused(`${path} is there already: name another file.`)
  const partial = `${path}.partial-${crypto.randomUUID().slice(0, 8)}`
  const compress = createZstdCompress()
  const written = pipeline(compress, createWriteStream(partial, { mode: 0o600, flags: 'wx' }))
  // Whoever writes on hears of it.
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
    await rename(partial, path)
    await sync(dirname(path))
  } catch (error) {
    compress.destroy()
    await written.catch(() => undefined)
    await rm(partial, { force: true })
    throw error
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
    `${path} is damaged: it is cut off, or its bytes have changed. Nothing is taken from it.`,
    {
      cause,
    },
  )

/**
 * The lines of an archive but its last. Only when all have been read, nothing thrown, are they the ones that were
 * written.
 * @throws CommandRefused for a file that can not be read, is no archive, or is damaged
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

/** What a line is about: its first name. */
export const kindOf = (line: string): string => /^\{"(\w+)"/.exec(line)?.[1] ?? ''

/** The table of a line of rows, and the rows as the JSON text that they are. */
export function rowsOf(line: string): { readonly table: string; readonly json: string } {
  const head = /^\{"rows":"(\w+)","are":/.exec(line)
  if (head === null) throw new CommandRefused('The backup holds a line that can not be read.')
  return { table: head[1]!, json: line.slice(head[0].length, -1) }
}
