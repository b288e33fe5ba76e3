/** What the commands `backup`, `restore` and `reset` share: opening the stores, output, exit codes. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import {
  environment,
  ConfigError,
  readConfig,
  type Config,
  unknownSettings,
} from '#shared/runtime/config/config.ts'
import { machineNow } from '#shared/runtime/clock.ts'
import { DataDirectoryInUse, lockDataDirectory } from '#shared/runtime/data-directory-lock.ts'
import { OtherSchema } from '#shared/stores/db/migrate.ts'
import { createLog, errorFields, type Log } from '#shared/runtime/log.ts'
import { CANNOT_RESTORE } from '#shared/service/last-backup.ts'
import { openStores } from '#shared/service/service.ts'
import { type Counts, kindOf, rowsOf, type Write, CannotRestore, CommandRefused } from './archive.ts'
import type { Installation } from './take-backup.ts'

const SUFFIX = '.jsonl.zst'

/** Path of a backup to write: `to` if it names a file, otherwise a new file in this folder, which is created. */
export function fileIn(to: string, name: string): string {
  if (to.endsWith(SUFFIX)) return to
  mkdirSync(to, { recursive: true, mode: 0o700 })
  const moment = new Date(machineNow()).toISOString().slice(0, 19).replaceAll(':', '-')
  return join(to, `${name}-${moment}Z${SUFFIX}`)
}

export const screen = {
  print: (line: string): void => void process.stdout.write(`${line}\n`),
  /** Shown until the next call replaces it. */
  progress: (line: string): void => void (process.stderr.isTTY && process.stderr.write(`\r\u001b[2K${line}`)),
}

/** Logs unexpected errors to stderr, apart from the command's own output. */
const errorLog = (): Log => createLog({}, (line) => void process.stderr.write(`${line}\n`))

/** Whether several processes can use the stores at the same time. Embedded drivers allow one process only. */
const isShared = ({ databaseUrl, redisUrl }: Config): boolean => databaseUrl !== '' && redisUrl !== ''

/**
 * Opens the stores, runs `work`, and closes them.
 * @param inUse what to do instead when another process has the embedded stores locked
 * @throws DataDirectoryInUse without it
 */
export async function withInstallation<T>(
  config: Config,
  work: (installation: Installation) => Promise<T>,
  inUse?: () => Promise<T>,
): Promise<T> {
  let unlock = (): void => undefined
  try {
    if (!isShared(config)) unlock = lockDataDirectory(config.dataDir, 0)
  } catch (error) {
    if (error instanceof DataDirectoryInUse && inUse !== undefined) return await inUse()
    throw error
  }
  try {
    const log = errorLog()
    // No timeout: migrations of a restored database may take long.
    const { close, ...stores } = await openStores(config, log, undefined, 0)
    try {
      return await work({ ...stores, config, now: machineNow })
    } finally {
      await close()
    }
  } finally {
    unlock()
  }
}

/** Errors whose message is shown to the operator. */
const EXPECTED = [CommandRefused, DataDirectoryInUse, OtherSchema, ConfigError]

/** Signals that end a command, with their numbers. The first process of a container ignores them without a handler. */
const ENDING = { SIGINT: 2, SIGTERM: 15 } as const

/**
 * Runs a command and sets the exit code: 0 done, 1 refused or failed, 3 the backup cannot be restored, 128 and the
 * number of the signal that has ended it.
 */
export async function runCommand(run: (config: Config) => Promise<void>): Promise<void> {
  for (const [signal, number] of Object.entries(ENDING))
    process.once(signal, () => process.exit(128 + number))
  try {
    for (const name of unknownSettings(environment()))
      process.stderr.write(`There is no setting ${name}. Is it misspelt?\n`)
    await run(readConfig(environment()))
  } catch (error) {
    screen.progress('')
    process.exitCode = error instanceof CannotRestore ? CANNOT_RESTORE : 1
    if (EXPECTED.some((known) => error instanceof known))
      process.stderr.write(`${(error as Error).message}\n`)
    else errorLog().error('the command failed', errorFields(error))
  }
}

/** Passes lines to `write`, and shows their kind and size as progress. */
export function showing(write: Write): Write {
  let kind = ''
  let bytes = 0
  return async (line) => {
    const now = kindOf(line) === 'rows' ? rowsOf(line).table : kindOf(line)
    bytes = now === kind ? bytes + line.length : line.length
    kind = now
    screen.progress(`${kind} ${(bytes / 1_000_000).toFixed(1)} MB`)
    await write(line)
  }
}

export const summary = ({ rows, waiting, objects, damaged }: Counts): string =>
  `${rows.pilgrims ?? 0} pilgrims, ${rows.gps_points ?? 0} points stored, ${waiting} waiting, ${objects} objects` +
  (damaged === 0 ? '' : `; ${damaged} damaged objects are left out`)
