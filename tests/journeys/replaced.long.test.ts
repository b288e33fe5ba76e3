/**
 * Every process is stopped by SIGTERM and replaced while phones send: no check-in is rejected, and none waits
 * long.
 */
import { expect, test } from 'bun:test'
import { ServiceName } from '#shared/contracts/endpoint.ts'
import { post } from '#tests/helpers/pilgrim.ts'
import type { Server } from '#tests/helpers/process.ts'
import { describeOnServers } from '#tests/helpers/suite.ts'
import { slower } from '#tests/helpers/time-limits.ts'
import { checkIn, readAs } from '#tests/helpers/test-stack.ts'
import { openRealTestStack, startService } from '#tests/helpers/test-stack-real.ts'

const PHONES = 8
const PAUSE_MS = 20
const LONGEST_MS = 1_000

describeOnServers('services that are replaced one after the other', () => {
  test('refuse no check-in, and answer check-ins all the time', async () => {
    const stack = await openRealTestStack({
      doubled: ServiceName.options,
      settings: {
        EVENT_LIMIT_CHECKIN: '1000000',
        EVENT_LIMIT_USER_WRITE: '1000000',
        EVENT_LIMIT_ADMIN: '1000000',
        EVENT_LIMIT_ADDRESS: '10000000',
      },
    })
    const requests = {
      'check-in': (n: number) => checkIn(stack, `phone-${n}`, { timestamp: Date.now() }),
      profile: (n: number) => readAs(stack, 'owner', `user/phone-${n}`),
      name: (n: number) => post(stack, 'user/sync', { user_id: `phone-${n}`, display_name: `香客 ${n}` }),
    }
    const refusals: string[] = []
    let answered = 0
    let longestMs = 0
    let lastMs = performance.now()
    let ended = false
    const phone = async (n: number) => {
      for (let turn = n; !ended; turn++) {
        // Half of all requests are check-ins.
        const names = ['check-in', 'profile', 'check-in', 'name'] as const
        const name = names[turn % names.length]!
        const answer = await requests[name](n).catch((error: unknown) => String(error))
        if (typeof answer === 'string' || !answer.ok)
          refusals.push(
            `${name}: ${typeof answer === 'string' ? answer : `${answer.status} ${await answer.text()}`}`,
          )
        else if (name === 'check-in') {
          answered++
          longestMs = Math.max(longestMs, performance.now() - lastMs)
          lastMs = performance.now()
        }
        await Bun.sleep(PAUSE_MS)
      }
    }
    for (let n = 0; n < PHONES; n++) expect((await checkIn(stack, `phone-${n}`)).ok).toBeTrue()
    lastMs = performance.now()
    const load = Promise.all(Array.from({ length: PHONES }, (_, n) => phone(n)))
    const started: Server[] = []
    for (const name of ServiceName.options)
      for (const replica of [0, 1]) {
        const process = stack.service(name, replica)
        await process.stop('SIGTERM')
        started.push(await startService(name, stack.settings, undefined, process.port))
      }
    ended = true
    await load
    console.log(
      `${started.length} processes replaced: ${answered} check-ins answered, at most ${Math.round(longestMs)} ms apart`,
      refusals,
    )
    expect(refusals.filter((refusal) => refusal.startsWith('check-in'))).toEqual([])
    expect(longestMs).toBeLessThan(slower(LONGEST_MS))
    await Promise.all(started.map((server) => server.close()))
    await stack.close()
  }, 240_000)
})
