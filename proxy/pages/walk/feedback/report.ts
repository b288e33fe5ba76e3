/** A report of a problem or an idea: written here, then queued in the outbox until the service has it. */
import { computed, signal } from '@preact/signals'
import type { ClientError } from '#shared/client/index.ts'
import { entriesOf, keepEntry, queue, sendKept, takeRefused, waitingOf, whenSettled } from '../outbox.ts'
import { now } from '../session/clock.ts'
import { person } from '../session/current-state.ts'
import { dataUrlOf, placesLookedFor, type ReportFields } from '../session/senders.ts'
import { keep, valueOfWalk } from '../session/stored-signals.ts'
import { withoutReload } from '../session/update.ts'
import { beginPlace, takePlace, wantsPlace } from './place.ts'

/** Whether a report is still unsent. */
export const reportWaits = computed(() => waitingOf('report') > 0)
/** The latest delivered report. `atMs`: epoch milliseconds. */
export const arrivedReport = valueOfWalk<{
  readonly key: string
  readonly number: number
  readonly atMs: number
  readonly withPlace: boolean
} | null>(null, 'walk-report-arrived')
/** A report that the service will never accept as it is. The form shows it again. */
export const refusedReport = valueOfWalk<{ readonly report: ReportFields; readonly code: string } | null>(
  null,
)

async function readRefused(): Promise<void> {
  const refused = await takeRefused('report')
  if (refused !== null) refusedReport.value = { report: refused.fields as ReportFields, code: refused.code }
}
// At the start for entries of an earlier run, and after each rejection.
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
/** A data URL of the reduced picture. */
export const picture = valueOfWalk<string | null>(null, 'walk-feedback-picture')
export const sending = signal(false)
/** Problem shown to the pilgrim: category or text missing, picture unreadable, or the service's error. */
export const fault = valueOfWalk<'category' | 'report' | 'picture' | ClientError | null>(null)
/** Key of the report that was sent from this view. */
const sentKey = valueOfWalk<string | null>(null)

/** Whether its position was to be included. */
const placeWanted = signal(false)
/** Keys of reports whose position this page has found. */
const placed = new Set<string>()

/**
 * State of the report that was sent from this view; null: none was sent, or it is back in the form.
 * `withPlace` is null if no position was wanted.
 */
export const outcome = computed(() => {
  const arrived = arrivedReport.value?.key === sentKey.value ? arrivedReport.value : null
  if (sentKey.value === null || (arrived === null && !reportWaits.value)) return null
  const withPlace = arrived?.withPlace ?? placed.has(sentKey.value)
  return { number: arrived?.number ?? null, withPlace: placeWanted.value ? withPlace : null }
})

/** Whether the form has a text or a picture that was not sent. */
export const isBegun = (): boolean => written.value.text !== '' || picture.value !== null

/** Resets the outcome of the previous report. */
export function beginReport(): void {
  fault.value = null
  // The previous report is sent in the background.
  if (sentKey.value !== null) sending.value = false
  sentKey.value = null
  takeBackRefused()
  void beginPlace(isBegun())
}

/** Stores the text, and clears the error of a missing field once the field is filled in. */
export function write(change: Partial<typeof written.value>): void {
  const next = { ...written.value, ...change }
  keep(written, next)
  if (fault.value === 'category' && next.category !== '') fault.value = null
  if (fault.value === 'report' && next.text.trim() !== '') fault.value = null
}

/** The picture that is being reduced. */
let choosing: Promise<void> = Promise.resolve()

/**
 * Sets the report's picture, replacing an earlier one. It is reduced at once so that the device can store it.
 */
export function givePicture(file: File | null): void {
  const userId = person.peek()?.userId
  const choice = (choosing = choose().catch(reportError))
  async function choose(): Promise<void> {
    const small = file && (await smallPicture(file))
    const next = small && (await dataUrlOf(small))
    // Another picture was chosen meanwhile, or another walk was taken over.
    if (choosing !== choice || person.peek()?.userId !== userId) return
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
  // The picture is unreadable: show the error instead of sending.
  if (fault.peek() !== null) return void (sending.value = false)
  placeWanted.value = wantsPlace.value
  const [key, { now: here, later }] = [crypto.randomUUID(), takePlace()]
  if (here.device_info !== undefined) placed.add(key)
  if (later !== null) {
    // Stored as soon as it is found, so that it survives the end of the page.
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

/** Puts a rejected report back into the form, once the form is empty. */
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

/** @returns null if the browser cannot decode it as a picture */
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
