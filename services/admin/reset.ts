/** `bun run reset`: clears what rehearsals have left, before the event. */
import { createInterface } from 'node:readline/promises'
import { parseArgs } from 'node:util'
import type { Config } from '#shared/config/config.ts'
import { runCommand, screen, withInstallation } from './backup/command.ts'
import { CommandRefused } from './backup/command-refused.ts'
import type { Installation } from './backup/take-backup.ts'
import { clearRehearsal } from './reset/clear.ts'
import { type Contents, expectRehearsal, readContents } from './reset/rehearsal.ts'

const USAGE = `Deletes everything that rehearsals have left: pilgrims, points, sums, surveys, feedback, pictures, messages,
what waits in the buffer and in journals. What was set up stays (roles, scheduled notifications, rich menus), so do
followers, erasures and the audit log, which names the reset. Afterwards the event is active.

  bun run reset [--yes <name of the event>]

  --yes    EVENT_NAME, letter by letter; without it the name is asked for
  --help   this text

All services must be stopped, and EVENT_STARTS_AT must be set and lie ahead: once the event has begun nothing is
deleted. One that was broken off is simply repeated.

Exit codes: 0 cleared, 1 refused or failed, 2 wrong command line.`

/** @throws CommandRefused unless the event's own name is given */
async function confirm({ eventName }: Config, given: string | undefined, contents: Contents): Promise<void> {
  const list = Object.entries(contents).map(([what, count]) => `${count} ${what.replaceAll('_', ' ')}`)
  screen.print(`This deletes for good: ${list.join(', ') || 'nothing, there is nothing'}.`)
  const typed = given ?? (process.stdin.isTTY ? await ask(`Type the name of the event (${eventName}): `) : '')
  if (typed.trim() !== eventName)
    throw new CommandRefused(
      `Nothing is deleted: that takes the event's name, by --yes ${JSON.stringify(eventName)}.`,
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
