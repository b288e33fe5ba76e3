/**
 * The backup's way into an embedded run, whose process holds the data: a socket that only its user can open, named
 * in the data directory.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readLines } from '#shared/runtime/read-lines.ts'
import { errorFields, type Log } from '#shared/runtime/log.ts'
import { kindOf, type Write } from './archive.ts'
import { CommandRefused } from './command-refused.ts'
import { type Installation, takeBackup } from './take-backup.ts'
import { describeError } from '#shared/runtime/loggable-error.ts'

const doorOf = (dataDir: string): string => join(dataDir, 'backup.door')

/** Opens the door. @returns what closes it */
export function openBackupSocket(installation: Installation, log: Log): () => Promise<void> {
  // A socket's path is limited to about 100 characters, so it does not stand in the data directory.
  const dir = mkdtempSync(join(tmpdir(), 'event-backup-'))
  const unix = join(dir, 'door')
  const server = Bun.serve({
    unix,
    fetch(request, server) {
      // Whoever hands over what it has may take its time.
      server.timeout(request, 0)
      const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
      const writer = writable.getWriter()
      takeBackup(installation, (line) => writer.write(Buffer.from(`${line}\n`)))
        .catch(async (error: unknown) => {
          log.error('a backup is not complete', errorFields(error))
          const sentence = describeError(error)
          await writer.write(Buffer.from(JSON.stringify({ refused: sentence })))
        })
        .then(() => writer.close())
        // Whoever asked has gone.
        .catch(() => undefined)
      return new Response(readable)
    },
  })
  writeFileSync(doorOf(installation.config.dataDir), unix, { mode: 0o600 })
  return async () => {
    rmSync(doorOf(installation.config.dataDir), { force: true })
    await server.stop(true)
    rmSync(dir, { recursive: true, force: true })
  }
}

/**
 * Has the process that holds a data directory take the backup.
 * @throws CommandRefused when it can not, or goes away
 */
export async function takeBackupThroughSocket(dataDir: string, write: Write): Promise<void> {
  let ended = false
  try {
    const unix = readFileSync(doorOf(dataDir), 'utf8')
    const response = await fetch('http://localhost/', { unix })
    for await (const bytes of readLines(response.body!)) {
      const line = bytes.toString('utf8')
      if (kindOf(line) === 'refused')
        throw new CommandRefused((JSON.parse(line) as { refused: string }).refused)
      ended = kindOf(line) === 'end'
      await write(line)
    }
  } catch (error) {
    if (error instanceof CommandRefused) throw error
    throw new CommandRefused(`The process that holds ${dataDir} does not answer: ${describeError(error)}`, {
      cause: error,
    })
  }
  if (!ended)
    throw new CommandRefused(`The process that holds ${dataDir} has ended before the backup was complete.`)
}
