/** `bun run restore`: restores a backup into an empty installation. */
import { parseArgs } from 'node:util'
import type { Config } from '#shared/runtime/config/config.ts'
import type { ActivityStatus } from '#shared/contracts/fields.ts'
import { runCommand, screen, summary, withInstallation, UsageError } from './backup/command.ts'
import { restoreBackup } from './backup/restore.ts'
import { verifyBackup } from './backup/verify-backup.ts'

const USAGE = `Restores a backup into an empty installation whose services are stopped.

  bun run restore --from <file> [--replace] [--paused]

  --from      the backup file; it is read completely and checked before anything is written
  --replace   first delete everything that the installation stores
  --paused    restore an active event as paused
  --help      show this text

Exit codes: 0 restored, 1 refused or failed, 2 wrong command line.`

interface RestoreOptions {
  readonly replace: boolean
  readonly paused: boolean
}

/** @returns the activity's status */
async function restore(config: Config, from: string, options: RestoreOptions): Promise<ActivityStatus> {
  screen.progress(`Reading and checking ${from}`)
  const backup = await verifyBackup(from)
  screen.progress(`Restoring ${from}`)
  const status = await withInstallation(config, (installation) =>
    restoreBackup(installation, backup, options),
  )
  screen.progress('')
  screen.print(`Restored as of ${backup.header.made_at}: ${summary(backup.counts)}. The event is ${status}.`)
  return status
}

if (import.meta.main)
  await runCommand(USAGE, async (config) => {
    const { values } = parseArgs({
      options: {
        from: { type: 'string' },
        replace: { type: 'boolean', default: false },
        paused: { type: 'boolean', default: false },
      },
    })
    if (values.from === undefined) throw new UsageError('Name the backup: --from <file>.')
    await restore(config, values.from, values)
  })
