/** A report of a problem or an idea: it is written, and then it waits in the outbox until it has arrived. */
import { computed, signal } from '@preact/signals'
import type { ClientError } from '#shared/client/index.ts'
import { entriesOf, keepEntry, queue, sendKept, takeRefused, waitingOf, whenSettled } from '../outbox.ts'
import { now } from '../session/clock.ts'
import { person } from '../session/current-state.ts'
import { dataUrlOf, placesLookedFor, type ReportFields } from '../session/senders.ts'
import { keep, valueOfWalk } from '../session/stored-signals.ts'
import { withoutReload } from '../session/update.ts'
import { beginPlace, takePlace, wantsPlace } from './place.ts'

/** Whether a report is not at the service yet. */
export const reportWaits = computed(() => waitingOf('report') > 0)
/** The report that arrived last. `atMs`: epoch milliseconds. */
export const arrivedReport = valueOfWalk<{
  readonly key: string
  readonly number: number
  readonly atMs: number
  readonly withPlace: boolean
} | null>(null, 'walk-report-arrived')
/** A report that the service will never take as it is. The form shows it again. */
export const refusedReport = valueOfWalk<{ readonly report: ReportFields; readonly code: string } | null>(
  null,
)

async function readRefused(): Promise<void> {
  const refused = await takeRefused('report')
  if (refused !== null) refusedReport.value = { report: refused.fields as ReportFields, code: refused.code }
}
// What an earlier run has left; and after each refusal.
queue.subscribe((open) => {
  if (open !== null && typeof open !== 'string') void readRefused()
})
whenSettled('report', (entries, { data, error }) => {
  if (error !== undefined) return void readRefused()
  const { id } = data as { readonly id?: number }
  const { key, device_info: info } = Object.assign({}, ...entries.map(({ fields }) => fields)) as ReportFields
  if (id === undefined) return
  const withPlace = info !== undefined || placed.has(key)
  keep(arrivedReport, { key, number: id, atMs: now(), withPlace })
})

export const written = valueOfWalk({ category: '', text: '' }, 'walk-feedback')
/** A data URL, made small. */
export const picture = valueOfWalk<string | null>(null, 'walk-feedback-picture')
export const sending = signal(false)
/** What the pilgrim is told: the category or words are missing, the picture can not be read, or the service refuses. */
export const fault = valueOfWalk<'category' | 'report' | 'picture' | ClientError | null>(null)
/** The report that was sent in this view. */
const sentKey = valueOfWalk<string | null>(null)

/** Whether its place was to go with it. */
const placeWanted = signal(false)
/** Reports whose place was found in this page. */
const placed = new Set<string>()

/**
 * What became of the report that was sent in this view; null: none was, or it is back in the form. `withPlace` is null
 * where no place was wanted.
 */
export const outcome = computed(() => {
  const arrived = arrivedReport.value?.key === sentKey.value ? arrivedReport.value : null
  if (sentKey.value === null || (arrived === null && !reportWaits.value)) return null
  const withPlace = arrived?.withPlace ?? placed.has(sentKey.value)
  return { number: arrived?.number ?? null, withPlace: placeWanted.value ? withPlace : null }
})

/** Whether something was written or chosen that is not sent. */
export const isBegun = (): boolean => written.value.text !== '' || picture.value !== null

/** Forgets what was said about the last report. */
export function beginReport(): void {
  fault.value = null
  // The last one goes on by itself.
  if (sentKey.value !== null) sending.value = false
  sentKey.value = null
  takeBackRefused()
  void beginPlace(isBegun())
}

/** Keeps what is written. What was said to be missing is no longer said once it is there. */
export function write(change: Partial<typeof written.value>): void {
  const next = { ...written.value, ...change }
  keep(written, next)
  if (fault.value === 'category' && next.category !== '') fault.value = null
  if (fault.value === 'report' && next.text.trim() !== '') fault.value = null
}

/** The picture that is made small at the moment. */
let choosing: Promise<void> = Promise.resolve()

/** A report has one picture: another one replaces it. It is made small at once, so that the device can keep it. */
export function givePicture(file: File | null): void {
  const userId = person.peek()?.userId
  const mine = (choosing = choose().catch(reportError))
  async function choose(): Promise<void> {
    const small = file && (await smallPicture(file))
    const next = small && (await dataUrlOf(small))
    // Another one was chosen meanwhile, or another walk was taken over.
    if (choosing !== mine || person.peek()?.userId !== userId) return
    keep(picture, next)
    if (file !== null && next === null) fault.value = 'picture'
    else if (fault.value === 'picture') fault.value = null
  }
}

export async function sendReport(): Promise<void> {
  const { category, text } = written.value
  fault.value = category === '' ? 'category' : text.trim() === '' ? 'report' : null
  if (fault.value !== null || sending.value || person.value === null) return
  sending.value = true
  await choosing
  // The picture can not be read, and the pilgrim learns it only now.
  if (fault.peek() !== null) return void (sending.value = false)
  placeWanted.value = wantsPlace.value
  const [key, { now: here, later }] = [crypto.randomUUID(), takePlace()]
  if (here.device_info !== undefined) placed.add(key)
  if (later !== null) {
    // Kept as soon as it is found, so that a page that is ended loses it not.
    const found = later.then(async (place) => {
      if (place.device_info === undefined) return place
      placed.add(key)
      if ((await entriesOf('report')).length > 0) await keepEntry('report', { key, ...place })
      return place
    })
    placesLookedFor.set(
      key,
      found.finally(() => placesLookedFor.delete(key)),
    )
  }
  const report: ReportFields = { key, category, text, picture: picture.value, pictureUrl: null, ...here }
  const isKept = await keepEntry('report', report)
  if (!isKept.ok) {
    sending.value = false
    fault.value = isKept.error
    return
  }
  keep(written, { category: '', text: '' })
  keep(picture, null)
  sentKey.value = key
  await withoutReload(sendKept())
  await readRefused()
  takeBackRefused()
  if (sentKey.value === key) sending.value = false
}

/** What the service refuses goes back into the form, where it can be changed, once nothing else is written there. */
function takeBackRefused(): void {
  const refused = refusedReport.value
  if (refused === null || written.value.text !== '') return
  const { code, report } = refused
  keep(written, { category: report.category, text: report.text })
  fault.value =
    code === 'ended' || report.picture === null
      ? ({ code, status: 0, message: '' } as ClientError)
      : 'picture'
  refusedReport.value = null
}

const MAX_BYTES = 100_000
const SIDES = [1_600, 1_280, 1_024, 800, 640, 480]
const QUALITY = 0.72

/** @returns null for what the browser can not read as a picture */
async function smallPicture(file: Blob): Promise<Blob | null> {
  let picture: ImageBitmap
  try {
    picture = await createImageBitmap(file)
  } catch {
    return null
  }
  const canvas = document.createElement('canvas')
  for (const side of SIDES) {
    const scale = Math.min(1, side / Math.max(picture.width, picture.height))
    canvas.width = Math.max(1, Math.round(picture.width * scale))
    canvas.height = Math.max(1, Math.round(picture.height * scale))
    canvas.getContext('2d')!.drawImage(picture, 0, 0, canvas.width, canvas.height)
    const small = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, 'image/jpeg', QUALITY))
    if (small !== null && small.size <= MAX_BYTES) return small
  }
  return null
}
