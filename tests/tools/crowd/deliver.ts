/** Translates people's actions to calls of the client. */
import type { Answer, Client } from '#shared/client/index.ts'
import type { Act, Deed } from './acts.ts'
import type { LineDeliveries } from './line-deliveries.ts'
import type { Person } from './person.ts'
import type { Call, Phone } from './phone.ts'
import type { Tally } from './tally.ts'
import { pngOf } from '#tests/feedback-media/pictures.ts'
import { createRandom } from '#tests/helpers/random.ts'

const WIDTH = 180
const HEIGHT = 320

/** Draws a screenshot. */
function drawScreenshot(seed: number): Uint8Array<ArrayBuffer> {
  const random = createRandom(seed)
  const ground = [200 + 40 * random(), 205 + 40 * random(), 195 + 40 * random()]
  const [swing, phase, from] = [10 + 40 * random(), 6 * random(), 40 + 100 * random()]
  const pixels = Buffer.alloc(HEIGHT * (1 + 3 * WIDTH))
  for (let y = 0; y < HEIGHT; y++)
    for (let x = 0; x < WIDTH; x++) {
      const wayX = from + swing * Math.sin(y / 38 + phase)
      const isBar = y < 28 || y > HEIGHT - 40
      const isWay = Math.abs(x - wayX) < 3
      const isHere = Math.hypot(x - wayX, y - 170) < 9
      const color = isBar ? [120, 20, 30] : isHere ? [20, 90, 220] : isWay ? [220, 60, 40] : ground
      pixels.set(color.map(Math.round), y * (1 + 3 * WIDTH) + 1 + 3 * x)
    }
  return pngOf(WIDTH, HEIGHT, pixels)
}

/** Passes an action to the pilgrim's phone, which sends it when allowed, or to LINE. */
export function deliver(
  { deed }: Act,
  person: Person,
  phone: Phone,
  tally: Tally,
  line: LineDeliveries,
): void {
  switch (deed.kind) {
    case 'point':
      return phone.record(deed.fix)
    case 'check-in':
      return phone.checkIn(deed.fix, deed.times)
    case 'network':
      phone.isOnline = deed.online
      return
    case 'sync':
      // The caller decides when a phone sends.
      return
    case 'line':
      return line.add(person.userId, deed)
    case 'profile':
    case 'consent':
    case 'phone-number':
    case 'reported':
    case 'share':
    case 'tracker':
    case 'survey':
    case 'feedback':
    case 'status':
      phone.call(counted(tally, COUNTS[deed.kind] ?? 'others', callOf(deed, phone)))
  }
}

type Counter = 'surveys' | 'feedback' | 'others'
type Other = Exclude<Deed, { kind: 'point' | 'check-in' | 'network' | 'sync' | 'line' }>

const COUNTS: Readonly<Partial<Record<Other['kind'], Counter>>> = { survey: 'surveys', feedback: 'feedback' }

/** Counts a successful call. */
const counted =
  (tally: Tally, counter: Counter, call: Call): Call =>
  async (client) => {
    const answer = await call(client)
    if (answer.ok) tally[counter]++
    return answer
  }

function callOf(deed: Other, phone: Phone): Call {
  switch (deed.kind) {
    case 'profile':
      return (client) => client.syncProfile({ display_name: deed.name, language: deed.language })
    case 'consent':
      return (client) => client.setPrivacy({ agreed: deed.agreed })
    case 'phone-number':
      return (client) => client.setPhone({ phone: deed.phone })
    case 'reported':
      return (client) => client.syncProfile({ ...deed.reported })
    case 'share':
      return (client) => client.createShare({})
    case 'tracker':
      return (client) => client.createTracker({ label: deed.label })
    case 'survey':
      return (client) => client.submitSurvey({ survey: { ...deed.answers } })
    case 'feedback':
      return sendFeedback(deed, phone)
    case 'status':
      return (client) => client.setParticipantStatus({ status: deed.status })
  }
}

/** The screenshot is uploaded once, however often the report is sent. */
function sendFeedback(
  { category, description, screenshot, fix }: Extract<Other, { kind: 'feedback' }>,
  phone: Phone,
): Call {
  let url: string | null = null
  const report_id = crypto.randomUUID()
  return async (client: Client): Promise<Answer<unknown>> => {
    if (screenshot !== null && url === null) {
      const uploaded = await client.uploadScreenshot({ body: drawScreenshot(screenshot) })
      if (!uploaded.ok) return uploaded
      url = uploaded.data.url
    }
    return client.submitFeedback({
      report_id,
      category,
      description,
      device_info: { place: phone.placeOf(fix) },
      ...(url === null ? {} : { screenshot_url: url }),
    })
  }
}
