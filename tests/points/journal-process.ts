/**
 * Another replica's journal, in its own process. Arguments: the directory, and its action until it is killed:
 * `write` appends entries and prints each durable id, `adopt` adopts the journals it finds and prints the
 * number of entries each time.
 */
import { writeSync } from 'node:fs'
import { openJournal } from '#shared/points/journal/journal.ts'
import { checkin } from '#tests/kv/drivers.ts'

const [dir, does] = process.argv.slice(2)
const say = (line: string) => void writeSync(1, `${line}\n`)
const journal = openJournal(dir!, 1_000_000)
say('open')

async function write(): Promise<never> {
  for (;;) {
    const submission = checkin({ userId: 'U' })
    await journal.append(submission)
    say(submission.id)
  }
}

if (does === 'write') await Promise.all(Array.from({ length: 5 }, write))
else
  for (;;) {
    const { entries, faults } = await journal.adopt()
    if (faults.length > 0) throw new AggregateError(faults)
    if (entries > 0) say(`${entries}`)
    await Bun.sleep(0)
  }
