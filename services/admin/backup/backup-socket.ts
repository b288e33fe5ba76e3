/**
 * The socket for backups of an embedded run, whose process has the data directory locked. Only the process's user can
 * open the socket. A file in the data directory holds its path.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readLines } from '#shared/runtime/read-lines.ts'
import { errorFields, type Log, describeError } from '#shared/runtime/log.ts'
import { kindOf, type Write, CommandRefused } from './archive.ts'
import { type Installation, takeBackup } from './take-backup.ts'

const pathFileOf = (dataDir: string): string => join(dataDir, 'backup.socket')

/** Opens the socket. @returns a function that closes it */
export function openBackupSocket(installation: Installation, log: Log): () => Promise<void> {
  // A socket's path is limited to about 100 characters, so the socket is not in the data directory.
  const dir = mkdtempSync(join(tmpdir(), 'event-backup-'))
  const unix = join(dir, 'socket')
  const server = Bun.serve({
    unix,
    fetch(request, server) {
      // A backup may take any time.
      server.timeout(request, 0)
      const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
      const writer = writable.getWriter()
      takeBackup(installation, (line) => writer.write(Buffer.from(`${line}\n`)))
        .catch(async (error: unknown) => {
          // If the command was interrupted, it reports that itself.
          if (!request.signal.aborted) log.error('a backup failed', errorFields(error))
          const sentence = describeError(error)
          await writer.write(Buffer.from(JSON.stringify({ refused: sentence })))
        })
        .then(() => writer.close())
        // The client has disconnected.
        .catch(() => undefined)
      return new Response(readable)
    },
  })
  writeFileSync(pathFileOf(installation.config.dataDir), unix, { mode: 0o600 })
  return async () => {
    rmSync(pathFileOf(installation.config.dataDir), { force: true })
    await server.stop(true)
    rmSync(dir, { recursive: true, force: true })
  }
}

/**
 * Takes the backup through the process that has the data directory locked.
 * @throws CommandRefused when that process does not answer, refuses, or ends
 */
export async function takeBackupThroughSocket(dataDir: string, write: Write): Promise<void> {
  let ended = false
  try {
    const unix = readFileSync(pathFileOf(dataDir), 'utf8')
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
    throw new CommandRefused(`The process that uses ${dataDir} does not answer: ${describeError(error)}`, {
      cause: error,
    })
  }
  if (!ended)
    throw new CommandRefused(`The process that uses ${dataDir} ended before the backup was complete.`)
}
