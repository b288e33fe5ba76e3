/** The largest valid bodies use no more processor time than their prices. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createSurveyProfile } from '#services/survey-profile/app.ts'
import { createFeedbackMedia } from '#services/feedback-media/app.ts'
import { createTracking } from '#services/tracking/app.ts'
import { createTrackerEndpoint } from '#shared/contracts/trackers.ts'
import type { Service } from '#shared/service/context.ts'
import { PRICES, priceInMs } from '#shared/service/security/request-prices.ts'
import { openServiceParts, type ServiceParts } from '#tests/helpers/service-parts.ts'
import { newPilgrimId, PLACE } from '#tests/helpers/test-stack.ts'

const RUNS = 5
const MAX_BYTES = 102_400

let parts: ServiceParts
let services: Record<'tracking' | 'survey' | 'feedback', Service>
beforeAll(async () => {
  parts = await openServiceParts({ EVENT_LIMIT_ADDRESS: '1000000000' })
  services = {
    tracking: createTracking(parts.context('tracking')),
    survey: createSurveyProfile(parts.context('survey-profile')),
    feedback: createFeedbackMedia(parts.context('feedback-media')),
  }
  await services.tracking.start()
})
afterAll(async () => {
  await services?.tracking.stop()
  await parts?.close()
})

const post = (service: Service, path: string, body: string) =>
  service.fetch(new Request(`http://event.test/api/event/${path}`, { method: 'POST', body }))

const track = (count: number) =>
  Array.from({ length: count }, (_, i) => ({ ...PLACE, timestamp: Date.now() - (count - i) * 1_000 }))

/** Fills in a text so long that the body is about as large as accepted. */
const filled = (make: (text: string) => object, longest: number): string => {
  const bytes = JSON.stringify(make('')).length
  return JSON.stringify(make('x'.repeat(Math.min(longest, MAX_BYTES - bytes - 100))))
}

const LARGEST: Record<
  string,
  (userId: string) => Promise<[Service, string, string]> | [Service, string, string]
> = {
  syncTrack: (user_id) => [
    services.tracking,
    'track/sync',
    JSON.stringify({ user_id, points: track(1_500) }),
  ],
  checkIn: (user_id) => [
    services.tracking,
    'checkin',
    JSON.stringify({ user_id, ...PLACE, track_points: track(1_000) }),
  ],
  submitSurvey: (user_id) => [
    services.survey,
    'submit',
    JSON.stringify({
      user_id,
      survey: Object.fromEntries(
        Array.from({ length: 100 }, (_, i) => [`q1_${i}`, Array(24).fill('x'.repeat(36))]),
      ),
    }),
  ],
  syncProfile: (user_id) => [
    services.survey,
    'user/sync',
    filled((text) => ({ user_id, display_name: 'x', other: text }), MAX_BYTES),
  ],
  submitFeedback: (user_id) => [
    services.feedback,
    'feedback',
    filled((text) => ({ user_id, category: 'x', description: 'y'.repeat(2_000), other: text }), MAX_BYTES),
  ],
  ingestOverland: async (user_id) => {
    const made = await post(services.tracking, 'trackers', JSON.stringify({ user_id }))
    const { key } = createTrackerEndpoint.data.parse(((await made.json()) as { data: unknown }).data)
    const locations = track(5_000).map(({ lat, lng, timestamp }) => ({
      geometry: { type: 'Point', coordinates: [lng, lat] },
      properties: { timestamp: new Date(timestamp).toISOString(), horizontal_accuracy: 5 },
    }))
    return [services.tracking, `ingest/${key}/overland`, JSON.stringify({ locations })]
  },
}

test.each(Object.keys(LARGEST))('%s', async (id) => {
  let leastMs = Infinity
  let bytes = 0
  for (let run = 0; run < RUNS; run++) {
    const [service, path, body] = await LARGEST[id]!(newPilgrimId())
    bytes = body.length
    const before = process.cpuUsage()
    const answer = await post(service, path, body)
    const { user, system } = process.cpuUsage(before)
    expect({ id, status: answer.status, text: answer.ok ? '' : await answer.text() }).toMatchObject({
      text: '',
    })
    leastMs = Math.min(leastMs, (user + system) / 1_000)
  }
  const priceMs = priceInMs(PRICES[id]!, bytes)
  console.log(`${id}: ${bytes} bytes, ${leastMs.toFixed(1)} ms of a processor, price ${priceMs}`)
  expect(leastMs).toBeLessThanOrEqual(priceMs)
})
