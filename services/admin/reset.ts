/** `bun run reset`: deletes the data of rehearsals, before the event. */
import { createInterface } from 'node:readline/promises'
import { parseArgs } from 'node:util'
import type { Config } from '#shared/runtime/config/config.ts'
import { runCommand, screen, withInstallation } from './backup/command.ts'
import { CommandRefused } from './backup/archive.ts'
import type { Installation } from './backup/take-backup.ts'
import { clearRehearsal, type Contents, expectRehearsal, readContents } from './reset/clear-rehearsal.ts'

const USAGE = `Deletes all data of rehearsals: pilgrims, points, totals, surveys, feedback, pictures, messages, and the
points in the buffer and in journals. It does not delete what operators have set up (roles, scheduled notifications,
rich menus), followers, erasures, or the audit log, which records the reset. Afterwards the event is active.

  bun run reset [--yes <name of the event>]

  --yes    the exact value of EVENT_NAME; without it the command asks for the name
  --help   show this text

All services must be stopped, and EVENT_STARTS_AT must be set to a time in the future: once the event has begun,
nothing is deleted. If a reset is interrupted, run it again.

Exit codes: 0 cleared, 1 refused or failed, 2 wrong command line.`

/** @throws CommandRefused unless the given name is the event's */
async function confirm({ eventName }: Config, given: string | undefined, contents: Contents): Promise<void> {
  const list = Object.entries(contents).map(([what, count]) => `${count} ${what.replaceAll('_', ' ')}`)
  screen.print(`This deletes permanently: ${list.join(', ') || 'nothing, because nothing is stored'}.`)
  const typed = given ?? (process.stdin.isTTY ? await ask(`Type the name of the event (${eventName}): `) : '')
  if (typed.trim() !== eventName)
    throw new CommandRefused(
      `Nothing is deleted. To confirm, give the event's name: --yes ${JSON.stringify(eventName)}.`,
    )
}

async function ask(question: string): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stdout })
  try {
    return await lines.question(question)
  } finally {
    lines.close()
  }
}

async function reset(installation: Installation, yes: string | undefined): Promise<void> {
  await expectRehearsal(installation)
  const contents = await readContents(installation)
  await confirm(installation.config, yes, contents)
  await clearRehearsal(installation, contents)
  screen.print('The rehearsal is cleared. The event is active.')
}

if (import.meta.main)
  await runCommand(USAGE, async (config) => {
    const { values } = parseArgs({ options: { yes: { type: 'string' } } })
    await withInstallation(config, (installation) => reset(installation, values.yes))
  })
