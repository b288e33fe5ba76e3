/** Responses to a tracker app that sends too much or too often, or while the event is paused. */
import { expect, test } from 'bun:test'
import { trackSyncEndpoint } from '#shared/contracts/tracking.ts'
import { dataOf, sentenceOf } from '#tests/helpers/answers.ts'
import { describeBothStacks } from '#tests/helpers/open-test-stack.ts'
import { post } from '#tests/helpers/pilgrim.ts'
import { newPilgrimId, setStatus, syncTrack, type TestStack } from '#tests/helpers/test-stack.ts'
import { expectTaken, newTracker, send, walk } from '#tests/helpers/trackers.ts'
import {
  type Fix,
  FORMS,
  overland,
  ownTracksIos,
  type Sent,
  traccar10,
} from '#tests/tracking/tracker-bodies.ts'

const BYTES = 1_048_576
const LIMIT = 20
const DRAWINGS = 10

function limits(stack: TestStack): void {
  const padded = (bytes: number): Sent => {
    const [fix] = walk(1) as [Fix]
    const { body } = overland(fix)
    return { app: 'overland', method: 'POST', body: body! + ' '.repeat(bytes - body!.length) }
  }
  test('a body has at most 1 MiB, and on other paths as much as ever', async () => {
    const { key } = await newTracker(stack, newPilgrimId())
    await expectTaken(await send(stack, key, padded(BYTES)), { app: 'overland' })
    const sentence = await sentenceOf(await send(stack, key, padded(BYTES + 1)), 413, 'too-large')
    expect(sentence).toContain('1048576')
    const body = `{"user_id":"x","points":[]}${' '.repeat(BYTES / 2)}`
    await sentenceOf(await stack.fetch('/api/event/track/sync', { method: 'POST', body }), 413, 'too-large')
  })

  test.each(['before', 'after'])('a photo of a camera %s the position costs no point', async (place) => {
    const userId = newPilgrimId()
    const { key } = await newTracker(stack, userId)
    const [fix] = walk(1) as [Fix]
    const message = JSON.parse(ownTracksIos(fix).body!) as object
    const image = { image: Buffer.alloc(6_000_000, 7).toString('base64'), imagename: 'temple.jpg' }
    const whole = place === 'before' ? { ...image, ...message } : { ...message, ...image }
    const sent: Sent = { app: 'owntracks', method: 'POST', body: JSON.stringify(whole) }
    await expectTaken(await send(stack, key, sent), sent)
    const { lat, lng, ms } = fix
    const again = await syncTrack(stack, userId, [{ lat, lng, timestamp: ms }])
    expect(await dataOf(again, trackSyncEndpoint)).toMatchObject({ accepted: 0, duplicates: 1 })
  })

  test('beyond the rate limit an app is told to come back, never 429; a phone’s own limit is another', async () => {
    const userId = newPilgrimId()
    const { key } = await newTracker(stack, userId)
    const fixes = walk(25)
    const answers = []
    for (const fix of fixes) answers.push(await send(stack, key, traccar10(fix)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(LIMIT)
    const late = answers.filter(({ status }) => status !== 200)
    expect(late).toHaveLength(25 - LIMIT)
    for (const answer of late) await sentenceOf(answer, 503, 'rate-limited')
    const points = fixes.map(({ lat, lng, ms }) => ({ lat, lng, timestamp: ms }))
    expect((await syncTrack(stack, userId, points)).status).toBe(200)
  })

  test('while the event is paused every app keeps its points, and sends them afterwards', async () => {
    const userId = newPilgrimId()
    const { key } = await newTracker(stack, userId)
    const [fix] = walk(1) as [Fix]
    await send(stack, key, traccar10(fix))
    await setStatus(stack, { status: 'paused', message: 'A typhoon comes: please stay.' })
    try {
      for (const form of Object.values(FORMS)) {
        const sentence = await sentenceOf(
          await send(stack, key, form({ ...fix, ms: fix.ms - 1_000 })),
          503,
          'paused',
        )
        expect(sentence).toContain('typhoon')
      }
    } finally {
      await setStatus(stack, { status: 'active' })
    }
    await expectTaken(await send(stack, key, traccar10({ ...fix, ms: fix.ms - 1_000 })), { app: 'traccar' })
  })

  test('an address that invents pilgrims makes a bounded number of QR codes', async () => {
    const make = () => post(stack, 'trackers', { user_id: newPilgrimId() })
    const answers = await Promise.all(Array.from({ length: DRAWINGS + 1 }, make))
    const refused = answers.filter(({ status }) => status !== 200)
    expect(refused.length).toBeGreaterThan(0)
    for (const answer of refused) await sentenceOf(answer, 429, 'rate-limited')
  })
}

describeBothStacks('tracker apps at their limits', limits, {
  EVENT_LIMIT_INGEST: `${LIMIT}`,
  EVENT_LIMIT_DRAWING: `${DRAWINGS}`,
})
