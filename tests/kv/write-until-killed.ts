/**
 * A process that writes into an embedded kv until it is killed, and prints what the kv has confirmed:
 * `+field` is stored, `?field` is about to be acknowledged, `-field` is deleted. Arguments: the store's path,
 * and the first time of its points.
 */
import { writeSync } from 'node:fs'
import { openKv } from '#shared/stores/kv/open-kv.ts'
import { activate, admit, rules, sync } from './drivers.ts'

const [path, from] = process.argv.slice(2)
// Written synchronously: late output would look like a fault of the store.
const say = (sign: string, field: string) => void writeSync(1, `${sign}${field}\n`)

const kv = await openKv({
  url: '',
  partitions: 1,
  path: path!,
  onError(error) {
    throw error
  },
})
await activate(kv)
const generous = rules({ sync: { max: 1_000_000, windowMs: 1 } })

async function writer(writer: number): Promise<never> {
  for (let t = Number(from) + writer; ; t += 8) {
    const submission = sync(`U${t % 20}`, [t])
    const verdict = await admit(kv, submission, generous)
    if (verdict.outcome !== 'admitted') throw new Error(verdict.outcome)
    const { field } = submission.entries[0]!
    say('+', field)
    if (t % 3 !== 0) continue
    say('?', field)
    await kv.acknowledge(0, [{ userId: submission.userId, entries: submission.entries }])
    say('-', field)
  }
}
await Promise.all(Array.from({ length: 8 }, (_, i) => writer(i)))
