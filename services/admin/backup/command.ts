/** What the commands `backup` and `restore` have in common: the stores, the screen, the exit code. */
import { environment, ConfigError, readConfig, type Config, unknownSettings } from '#shared/config/config.ts'
import { DataDirectoryInUse, lockDataDirectory } from '#shared/runtime/data-directory-lock.ts'
import { OtherSchema } from '#shared/db/migrate.ts'
import { createLog, errorFields, type Log } from '#shared/runtime/log.ts'
import { openStores } from '#shared/runtime/service.ts'
import { type Counts, kindOf, rowsOf, type Write } from './archive.ts'
import { CommandRefused } from './command-refused.ts'
import type { Installation } from './take-backup.ts'
import { LoggableError } from '#shared/runtime/loggable-error.ts'

/** Where a command shows itself. */
export interface Screen {
  print(line: string): void
  /** Shown until the next one. */
  progress(line: string): void
}

export const screen: Screen = {
  print: (line) => void process.stdout.write(`${line}\n`),
  progress: (line) => void (process.stderr.isTTY && process.stderr.write(`\r\u001b[2K${line}`)),
}

/** What nobody expects is for whoever looks after the service, and beside the command's own output. */
const logged = (): Log => createLog({}, (line) => void process.stderr.write(`${line}\n`))

/** Whether all data are in this process's reach, beside services that run; the embedded drivers' are one process's. */
const isReal = ({ databaseUrl, redisUrl }: Config): boolean => databaseUrl !== '' && redisUrl !== ''

/**
 * Opens the stores for a piece of work.
 * @param inUse what to do instead when another process holds the embedded ones
 * @throws DataDirectoryInUse without it
 */
export async function withInstallation<T>(
  config: Config,
  work: (installation: Installation) => Promise<T>,
  inUse?: () => Promise<T>,
): Promise<T> {
  let unlock = (): void => undefined
  try {
    if (!isReal(config)) unlock = lockDataDirectory(config.dataDir, 0)
  } catch (error) {
    if (error instanceof DataDirectoryInUse && inUse !== undefined) return await inUse()
    throw error
  }
  try {
    const log = logged()
    // Old migrations of a restored database take as long as they take.
    const { close, ...stores } = await openStores(config, log, undefined, 0)
    try {
      return await work({ ...stores, config, now: Date.now })
    } finally {
      await close()
    }
  } finally {
    unlock()
  }
}

export class WrongCommandLine extends LoggableError {
  override name = 'WrongCommandLine'
}

/** Errors whose message is for people. */
const TOLD = [CommandRefused, DataDirectoryInUse, OtherSchema, ConfigError]

/** Runs a command to its end: exit code 0 done, 1 refused or failed, 2 wrong command line. */
export async function runCommand(usage: string, run: (config: Config) => Promise<void>): Promise<void> {
  try {
    if (process.argv.includes('--help')) return screen.print(usage)
    for (const name of unknownSettings(environment()))
      process.stderr.write(`${name} is no setting: is it misspelt?\n`)
    await run(readConfig(environment()))
  } catch (error) {
    screen.progress('')
    const usageWrong =
      error instanceof WrongCommandLine ||
      String((error as { code?: unknown }).code).startsWith('ERR_PARSE_ARGS')
    if (!TOLD.some((known) => error instanceof known) && !usageWrong) {
      logged().error('the command failed', errorFields(error))
      process.exitCode = 1
      return
    }
    process.stderr.write(`${(error as Error).message}\n${usageWrong ? `\n${usage}\n` : ''}`)
    process.exitCode = usageWrong ? 2 : 1
  }
}

/** Passes lines on, and shows what they are about. */
export function showing(write: Write): Write {
  let about = ''
  let bytes = 0
  return async (line) => {
    const now = kindOf(line) === 'rows' ? rowsOf(line).table : kindOf(line)
    bytes = now === about ? bytes + line.length : line.length
    about = now
    screen.progress(`${about} ${(bytes / 1_000_000).toFixed(1)} MB`)
    await write(line)
  }
}

/** What is in a backup, for people. */
export const summary = ({ rows, waiting, objects }: Counts): string =>
  `${rows.pilgrims ?? 0} pilgrims, ${rows.gps_points ?? 0} points stored, ${waiting} waiting, ${objects} objects`
