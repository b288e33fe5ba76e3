/** `bun run backup`: writes everything that an installation stores to one file, while its services run. */
import { statSync } from 'node:fs'
import { readCommandLine } from '#shared/runtime/command-line.ts'
import type { Config } from '#shared/runtime/config/config.ts'
import { verifyBackup, writeArchive } from './backup/archive.ts'
import { fileIn, runCommand, screen, showing, summary, withInstallation } from './backup/command.ts'
import { takeBackupThroughSocket } from './backup/backup-socket.ts'
import { takeBackup } from './backup/take-backup.ts'

const USAGE = `Writes a backup of everything: the database, objects, pending points, journals.

  bun run backup [--to <folder or file>]

  --to     a folder (created if missing; the file is named after the time), or a file name that ends in
           .jsonl.zst (default: ./backups)
  --help   show this text

The command needs the settings of the services, which may be running. The file contains no tokens, but it contains
all personal data.
Exit codes: 0 the backup is complete and was read back, 1 refused or failed, 2 wrong command line.`

async function backup(config: Config, to: string): Promise<void> {
  const path = fileIn(to, 'event')
  let written = ''
  await writeArchive(
    path,
    (write) => {
      const shown = showing(write)
      return withInstallation(
        config,
        (installation) => takeBackup(installation, shown),
        () => takeBackupThroughSocket(config.dataDir, shown),
      )
    },
    async (partial) => {
      written = summary((await verifyBackup(partial)).counts)
    },
  )
  screen.progress('')
  screen.print(`${path}: ${written}; ${(statSync(path).size / 1_000_000).toFixed(1)} MB`)
}

if (import.meta.main) {
  const { to } = readCommandLine(USAGE, { to: { type: 'string', default: './backups' } }).values
  await runCommand((config) => backup(config, to))
}
