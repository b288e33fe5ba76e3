/** A report of a problem or an idea: it is written, and then it waits on the device until it has arrived. */
import { computed, signal } from '@preact/signals'
import type { ClientError } from '#shared/client/index.ts'
import { keep, kept } from '../session/kept.ts'
import { person } from '../session/person.ts'
import { beginPlace, place, placeInfo } from './place.ts'
import { smallPicture } from './small-picture.ts'
import {
  addReport,
  arrivedReport,
  dataUrlOf,
  refusedReport,
  sendReports,
  waitingReports,
} from './waiting-reports.ts'

export const written = kept('walk-feedback', { category: '', text: '' })
/** A data URL, made small. */
export const picture = kept<string | null>('walk-feedback-picture', null)
export const sending = signal(false)
/** What the pilgrim is told: the category or words are missing, the picture can not be read, or the service refuses. */
export const fault = signal<'category' | 'missing' | 'picture' | ClientError | null>(null)
/** The report that was sent in this view. */
const sentKey = signal<string | null>(null)

/** What became of the report that was sent in this view; null: none was, or it is back in the form. */
export const outcome = computed(() => {
  if (sentKey.value === null) return null
  if (arrivedReport.value?.key === sentKey.value) return arrivedReport.value
  return waitingReports.value.some(({ key }) => key === sentKey.value) ? 'waits' : null
})

/** Whether something was written or chosen that is not sent. */
export const isBegun = (): boolean => written.value.text !== '' || picture.value !== null

/** Forgets what was said about the last report. */
export function beginReport(): void {
  fault.value = null
  sentKey.value = null
  takeBackRefused()
  void beginPlace(isBegun())
}

/** Keeps what is written. What was said to be missing is no longer said once it is there. */
export function write(change: Partial<typeof written.value>): void {
  const next = { ...written.value, ...change }
  keep(written, next)
  if (fault.value === 'category' && next.category !== '') fault.value = null
  if (fault.value === 'missing' && next.text.trim() !== '') fault.value = null
}

/** The picture that is made small at the moment. */
let choosing: Promise<void> = Promise.resolve()

/** A report has one picture: another one replaces it. It is made small at once, so that the device can keep it. */
export function givePicture(file: File | null): void {
  const mine = (choosing = choose().catch(reportError))
  async function choose(): Promise<void> {
    const small = file && (await smallPicture(file))
    const next = small && (await dataUrlOf(small))
    // Another one was chosen meanwhile.
    if (choosing !== mine) return
    keep(picture, next)
    if (file !== null && next === null) fault.value = 'picture'
    else if (fault.value === 'picture') fault.value = null
  }
}

export async function sendReport(): Promise<void> {
  const { category, text } = written.value
  fault.value = category === '' ? 'category' : text.trim() === '' ? 'missing' : null
  if (fault.value !== null || sending.value || person.value === null) return
  sending.value = true
  await choosing
  const [key, { userId }] = [crypto.randomUUID(), person.value]
  // The picture can not be read, and the pilgrim learns it only now.
  if (fault.peek() !== null) return void (sending.value = false)
  addReport({ key, userId, category, text, picture: picture.value, pictureUrl: null, ...(await placeInfo()) })
  keep(written, { category: '', text: '' })
  keep(picture, null)
  keep(place, null)
  sentKey.value = key
  await sendReports()
  takeBackRefused()
  sending.value = false
}

/** What the service refuses goes back into the form, where it can be changed, once nothing else is written there. */
function takeBackRefused(): void {
  const refused = refusedReport.value
  if (refused === null || refused.report.userId !== person.value?.userId || written.value.text !== '') return
  const { error, report } = refused
  keep(written, { category: report.category, text: report.text })
  fault.value = error.code === 'ended' || report.picture === null ? error : 'picture'
  keep(refusedReport, null)
}
