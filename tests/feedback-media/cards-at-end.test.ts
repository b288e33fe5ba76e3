/** The end of the event: feedback is closed, and all due cards are drawn. */
import { afterAll, describe, expect, test } from 'bun:test'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { drawCardEndpoint } from '#shared/contracts/cards.ts'
import type { Ending } from '#shared/contracts/operations.ts'
import { dataOf, sentenceOf } from '#tests/helpers/answers.ts'
import { type Embedded, startEmbedded, startMigratedEmbedded } from '#tests/helpers/embedded.ts'
import { until } from '#tests/helpers/wait.ts'
import { admin, checkIn, newPilgrimId, SETTINGS } from '#tests/helpers/test-stack.ts'
import { describeBothStacks } from '#tests/helpers/open-test-stack.ts'
import { png } from './pictures.ts'
import { json } from './requests.ts'

type Fetch = (path: string, init?: RequestInit) => Promise<Response>

/** A pilgrim with check-ins and everything else that unlocks the card. */
async function walk(fetch: Fetch, { checkins = 3, survey = true, phone = true } = {}): Promise<string> {
  const userId = newPilgrimId()
  for (let i = 0; i < checkins; i++) {
    const timestamp = Date.now() - (i + 1) * 3_600_000
    const answer = await checkIn({ fetch }, userId, { timestamp, lng: 120.67 + i * 0.05 })
    expect(answer.status).toBe(202)
  }
  if (survey) await fetch('/api/event/submit', json({ user_id: userId, survey: { q1: 'yes' } }))
  if (phone) await fetch('/api/event/user/phone', json({ user_id: userId, phone: '0912345678' }))
  return userId
}

const end = (fetch: Fetch) =>
  fetch('/api/event/admin/end-activity', { method: 'POST', headers: admin('manager') })

async function endingOf(fetch: Fetch): Promise<Ending> {
  const answer = await fetch('/api/event/admin/status', { headers: admin('volunteer') })
  return ((await answer.json()) as { data: { ending: Ending } }).data.ending
}

/** Waits for the current card; while the renderer is busy an older one is served. */
const etagOf = (fetch: Fetch, userId: string): Promise<string | null> =>
  until(
    async () => {
      const { headers } = await fetch(`/api/event/og/${userId}.png`, { method: 'HEAD' })
      return headers.get('cache-control') === 'public, max-age=60' && headers.get('etag')
    },
    'the current card',
    { timeoutMs: 45_000 },
  )

describeBothStacks('the end', (stack) => {
  test('cards are drawn, later changes redraw them, and feedback is closed', async () => {
    const fetch: Fetch = (path, init) => stack.fetch(path, init)
    const unlocked = [await walk(fetch), await walk(fetch)]
    // A language named like a property of an object.
    await fetch('/api/event/user/sync', json({ user_id: unlocked[0], language: 'valueOf' }))
    for (const missing of [{ survey: false }, { phone: false }]) await walk(fetch, missing)
    // A pilgrim with a card gets the final one even without the achievement.
    const locked = await walk(fetch, { checkins: 1 })
    const lockedBefore = await etagOf(fetch, locked)
    await checkIn({ fetch }, locked)
    const early = await dataOf(
      await fetch(drawCardEndpoint.path, json({ user_id: unlocked[0] })),
      drawCardEndpoint,
    )
    const stored = json({ category: 'a', description: 'b', report_id: crypto.randomUUID() })
    expect((await fetch('/api/event/feedback', stored)).status).toBe(200)
    expect((await end(fetch)).status).toBe(200)
    await until(
      async () => {
        const { cards } = await endingOf(fetch)
        return cards.done === 3 && cards.total === 3
      },
      'three cards to be drawn',
      { timeoutMs: 45_000, everyMs: 200 },
    )
    expect(await etagOf(fetch, locked)).not.toBe(lockedBefore)
    // A card that already shows the same facts is not drawn again.
    expect(await etagOf(fetch, unlocked[0]!)).toBe(early.etag)

    const before = await etagOf(fetch, unlocked[1]!)
    await fetch('/api/event/user/sync', json({ user_id: unlocked[1], display_name: '林美玉' }))
    expect(await etagOf(fetch, unlocked[1]!)).not.toBe(before)

    const report = json({ category: 'a', description: 'b' })
    await sentenceOf(await fetch('/api/event/feedback', report), 403, 'ended')
    // A report whose answer was lost is not refused: it is stored.
    expect((await fetch('/api/event/feedback', stored)).status).toBe(200)
    const upload = { method: 'POST', body: png(8, 8) }
    await sentenceOf(await fetch('/api/event/feedback-upload', upload), 403, 'ended')
    await sentenceOf(await fetch('/api/event/feedback', json({ category: 7 })), 400, 'invalid-request')
    // Lists and cards are still served.
    expect((await fetch('/api/event/feedback')).status).toBe(200)
    await dataOf(await fetch(drawCardEndpoint.path, json({ user_id: unlocked[1] })), drawCardEndpoint)
  }, 120_000)
})

describe('a process that is killed while it draws', () => {
  const CARDS = 30
  let run: Embedded
  afterAll(async () => {
    await run?.stop('SIGKILL')
    run?.remove()
  })
  const fetch: Fetch = (path, init) => run.fetch(path, init)
  const drawn = (): Map<string, number> => {
    const folder = join(run.dataDir, 'objects/cards')
    return new Map(readdirSync(folder).map((file) => [file, statSync(join(folder, file)).mtimeMs]))
  }

  test('continues where it stopped and draws each card once (long)', async () => {
    run = await startMigratedEmbedded(SETTINGS)
    const walkers: string[] = []
    for (let i = 0; i < CARDS; i++) walkers.push(await walk(fetch))
    await end(fetch)
    const some = await until(
      async () => {
        const { done } = (await endingOf(fetch)).cards
        return done >= 5 && done < CARDS && done
      },
      'some cards to be drawn',
      { timeoutMs: 60_000, everyMs: 20 },
    )
    await run.stop('SIGKILL')
    const first = drawn()
    expect(first.size).toBeGreaterThanOrEqual(some)
    expect(first.size).toBeLessThan(CARDS)
    run = await startEmbedded({ ...SETTINGS, EVENT_DATA_DIR: run.dataDir })
    await until(async () => (await endingOf(fetch)).cards.done === CARDS, 'the other cards to be drawn', {
      timeoutMs: 90_000,
      everyMs: 200,
    })
    const all = drawn()
    expect(all.size).toBe(CARDS)
    // At most the card that was stored but not yet recorded is drawn again.
    const again = [...first].filter(([file, at]) => all.get(file) !== at)
    expect(again.length).toBeLessThanOrEqual(1)

    // A later change causes a redraw without a request.
    await fetch('/api/event/user/sync', json({ user_id: walkers[0], display_name: '林美玉' }))
    await until(
      () => [...drawn()].some(([file, at]) => all.get(file) !== at),
      'the card with the new name to be drawn without a request',
      { timeoutMs: 60_000, everyMs: 500 },
    )
  }, 260_000)
})
