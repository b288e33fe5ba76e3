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
export const picture = signal<File | null>(null)
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

/** Forgets what was said about the last report. */
export function beginReport(): void {
  fault.value = null
  sentKey.value = null
  picture.value = null
  takeBackRefused()
  void beginPlace(written.value.text !== '')
}

/** Keeps what is written. What was said to be missing is no longer said once it is there. */
export function write(change: Partial<typeof written.value>): void {
  const next = { ...written.value, ...change }
  keep(written, next)
  if (fault.value === 'category' && next.category !== '') fault.value = null
  if (fault.value === 'missing' && next.text.trim() !== '') fault.value = null
}

/** A report has one picture: another one replaces it. */
export function givePicture(file: File | null): void {
  picture.value = file
  if (fault.value === 'picture') fault.value = null
}

export async function sendReport(): Promise<void> {
  const { category, text } = written.value
  fault.value = category === '' ? 'category' : text.trim() === '' ? 'missing' : null
  if (fault.value !== null || sending.value || person.value === null) return
  sending.value = true
  const { userId } = person.value
  const small = picture.value && (await smallPicture(picture.value))
  if (picture.value !== null && small === null) fault.value = 'picture'
  else {
    const key = crypto.randomUUID()
    const data = small && (await dataUrlOf(small))
    addReport({ key, userId, category, text, picture: data, pictureUrl: null, ...(await placeInfo()) })
    keep(written, { category: '', text: '' })
    keep(place, null)
    sentKey.value = key
    await sendReports()
    takeBackRefused()
  }
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
