/** An event for the console's tests: walking pilgrims, with texts that attempt markup injection. */
import { MINUTE, post } from '#tests/helpers/pilgrim.ts'
import { lineUser } from '#tests/helpers/line-server.ts'
import { admin, flushed, syncTrack, type TestStack } from '#tests/helpers/test-stack.ts'

/** Each would run a script, load a picture or close an element if it were interpreted as markup. */
export const HOSTILE = [
  '<img src=x onerror="window.hit=1">',
  '"><script>window.hit=1</script>',
  '</textarea><svg onload="window.hit=1">',
  'javascript:window.hit=1',
  '\u202Eelpoep\u202C =cmd|calc!A1',
] as const

/** A picture large enough for a screenshot. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
)

/** The route of these pilgrims, from its south gate to its north gate, about 13 km. */
export const ROUTE = {
  type: 'FeatureCollection',
  features: [
    {
      type: 'Feature',
      properties: {},
      geometry: {
        type: 'LineString',
        coordinates: [
          [120.55, 24.03],
          [120.6, 24.14],
        ],
      },
    },
    ...(
      [
        ['South Gate', 120.55, 24.03],
        ['North Gate', 120.6, 24.14],
      ] as const
    ).map(([name, ...coordinates]) => ({
      type: 'Feature',
      properties: { name },
      geometry: { type: 'Point', coordinates },
    })),
  ],
}

export const PILGRIMS = 30
/** A LINE id, so that messages can reach them. */
export const pilgrimId = (i: number): string => lineUser(0x8_200_000 + i)

export const WALK_POINTS = 40
/** The pilgrim with an additional point that is not counted, five seconds after the previous one. */
export const HASTY = 8

function walk(i: number, now: number) {
  const points = Array.from({ length: WALK_POINTS }, (_, step) => ({
    lat: 24.05 + i * 0.001 + step * 0.0012,
    lng: 120.55 + i * 0.0015 + step * 0.0004,
    timestamp: now - (42 - step) * 4 * MINUTE,
  }))
  const last = points.at(-1)!
  return i === HASTY ? [...points, { ...last, timestamp: last.timestamp + 5_000 }] : points
}

async function addFeedback(stack: TestStack, i: number, text: string): Promise<void> {
  const upload = await stack.fetch('/api/event/feedback-upload', { method: 'POST', body: PNG })
  const { data } = (await upload.json()) as { data: { url: string } }
  await post(stack, 'feedback', {
    user_id: pilgrimId(i),
    category: text.slice(0, 90),
    description: `${text} The water station at kilometre ${i} is empty.`,
    screenshot_url: data.url,
    device_info: text,
    contact: text,
  })
}

const HOUR = 60 * MINUTE
const ZONE_AHEAD = 8 * HOUR

/**
 * Now, or the last minute of the previous day shortly after midnight, so that each walk lies within one day.
 */
function endOfWalk(): number {
  const now = Date.now()
  const sinceMidnight = (now + ZONE_AHEAD) % (24 * HOUR)
  return sinceMidnight < 3 * HOUR ? now - sinceMidnight - MINUTE : now
}

/** Fills a stack. Resolves when everything is in the database. */
export async function fillEvent(stack: TestStack): Promise<void> {
  const now = endOfWalk()
  for (let i = 0; i < PILGRIMS; i++) {
    await syncTrack(stack, pilgrimId(i), walk(i, now))
    const hostile = HOSTILE[i]
    await post(stack, 'user/sync', {
      user_id: pilgrimId(i),
      display_name: hostile ?? `Pilgrim ${i} 林阿${'甲乙丙丁戊'[i % 5]}`,
      transport: { train: i, scooter: 2 },
      consumption: { water: 3 },
    })
    await post(stack, 'submit', {
      user_id: pilgrimId(i),
      q1: hostile ?? ['first time', 'second time', 'every year'][i % 3],
      q2: (i % 5) + 1,
      q10: hostile ?? `The soup at the ${i}. temple was the best part of the night.`,
    })
  }
  for (const [i, text] of HOSTILE.entries()) await addFeedback(stack, i, text)
  await stack.fetch('/api/event/admin/roles', {
    method: 'POST',
    headers: admin('manager'),
    body: JSON.stringify({ user_id: pilgrimId(0), role: 'volunteer' }),
  })
  await stack.fetch('/api/event/push', {
    method: 'POST',
    headers: admin('manager'),
    body: JSON.stringify({ audience: 'all', text: HOSTILE[0] }),
  })
  await flushed(stack)
}
