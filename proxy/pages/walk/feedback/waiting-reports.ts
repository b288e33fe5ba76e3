/** Reports on their way: each is kept on the device until the service has it, and is sent by itself. */
import type { Answer, ClientError, Failure } from '#shared/client/index.ts'
import { now } from '../session/clock.ts'
import { keep, kept } from '../session/stored-signals.ts'
import { person } from '../session/person.ts'
import { client, noteError } from '../session/service.ts'
import type { ReportedPlace } from './place.ts'
import { computed, signal } from '@preact/signals'

interface WaitingReport extends ReportedPlace {
  readonly key: string
  /** Whose report it is: another walk may be restored on this phone meanwhile. */
  readonly userId: string
  readonly category: string
  readonly text: string
  /** A data URL, made small; null: without a picture, or the service has it already. */
  readonly picture: string | null
  /** Where the service has the picture. */
  readonly pictureUrl: string | null
}

export const waitingReports = kept<readonly WaitingReport[]>('walk-reports', [])
/** Whether a report of who uses this phone now is not at the service yet. */
export const reportWaits = computed(() =>
  waitingReports.value.some(({ userId }) => userId === person.value?.userId),
)
/** The report that arrived last. `atMs`: epoch milliseconds. */
export const arrivedReport = kept<{
  readonly key: string
  readonly number: number
  readonly atMs: number
  readonly withPlace: boolean
} | null>('walk-report-arrived', null)
/** Why the last attempt failed. */
export const whyWaiting = signal<ClientError | null>(null)
/** A report that the service will never take as it is. The form shows it again. */
export const refusedReport = kept<{ readonly report: WaitingReport; readonly error: ClientError } | null>(
  'walk-report-refused',
  null,
)

const change = (key: string, by: Partial<WaitingReport>): void =>
  keep(
    waitingReports,
    waitingReports.value.map((one) => (one.key === key ? { ...one, ...by } : one)),
  )

const remove = (key: string): void =>
  keep(
    waitingReports,
    waitingReports.value.filter((one) => one.key !== key),
  )

/** Places that are looked for. A page that is ended leaves its reports to the next one, which sends them without. */
const places = new Map<string, Promise<void>>()

/** Keeps a report until it has arrived. @param place what it waits for before it is sent */
export function addReport(report: WaitingReport, place: Promise<ReportedPlace> | null): void {
  keep(waitingReports, [...waitingReports.value, report])
  if (place !== null)
    places.set(
      report.key,
      place.then((found) => change(report.key, found)),
    )
}

let sending: Promise<void> = Promise.resolve()

/** Sends what waits, the oldest first, until one can not be sent. */
export const sendReports = (): Promise<void> => (sending = sending.then(sendAll).catch(reportError))

async function sendAll(): Promise<void> {
  const tried = new Set<string>()
  for (;;) {
    const report = waitingReports.value.find(
      ({ key, userId }) => userId === person.value?.userId && !tried.has(key),
    )
    if (report === undefined) return
    tried.add(report.key)
    if (!(await sendHere(report))) return
  }
}

/** So long after a report has arrived, other windows know it: their copies of the storage are not the same at once. */
const KNOWN_AFTER_MS = 10_000

/** Sends a report unless another window does, or has just done. @returns whether the next one may be tried */
function sendHere(report: WaitingReport): Promise<boolean> {
  const { locks } = navigator as { locks?: LockManager }
  if (locks === undefined) return attempt(report)
  return new Promise((resolve, reject) => {
    const name = `walk-report-${report.key}`
    locks
      .request(name, { ifAvailable: true }, async (lock) => {
        if (lock === null) return resolve(true)
        resolve(await attempt(report))
        if (arrivedReport.value?.key === report.key)
          await new Promise((known) => setTimeout(known, KNOWN_AFTER_MS))
      })
      .catch(reject)
  })
}

async function attempt({ key, userId }: WaitingReport): Promise<boolean> {
  await places.get(key)
  places.delete(key)
  // Meanwhile it may have gone, or its pilgrim.
  const report = waitingReports.value.find((one) => one.key === key && userId === person.value?.userId)
  if (report === undefined) return true
  const answer = await send(report)
  whyWaiting.value = answer.ok ? null : answer.error
  if (!answer.ok && !isFinal(answer.error)) {
    noteError(answer.error)
    // The service may fail at this one alone.
    return answer.error.status === 500
  }
  remove(key)
  if (answer.ok) noteArrived(report, answer.data.id)
  else keep(refusedReport, { report, error: answer.error })
  return true
}

function noteArrived({ key, device_info: info }: WaitingReport, number: number): void {
  keep(arrivedReport, { key, number, atMs: now(), withPlace: info !== undefined })
}

async function send(report: WaitingReport): Promise<Answer<{ readonly id: number }>> {
  const { key, category, text, device_info: info } = report
  const picture = await upload(report)
  if (!picture.ok) return picture
  const { url } = picture
  return client.submitFeedback({
    // A report whose answer was lost on the way is stored once all the same.
    report_id: key,
    category,
    description: text,
    user_agent: navigator.userAgent.slice(0, 400),
    ...(info === undefined ? {} : { device_info: info }),
    ...(url === null ? {} : { screenshot_url: url }),
  })
}

/** The picture goes once, also when the report needs several attempts. `url` null: there is none */
async function upload(
  report: WaitingReport,
): Promise<{ readonly ok: true; readonly url: string | null } | Failure> {
  const { key, picture, pictureUrl } = report
  if (picture === null) return { ok: true, url: pictureUrl }
  const answer = await client.uploadScreenshot({ body: blobOf(picture) })
  if (!answer.ok) return answer
  const { url } = answer.data
  change(key, { picture: null, pictureUrl: url })
  return { ok: true, url }
}

const TYPE = 'image/jpeg'
const PREFIX = `data:${TYPE};base64,`

/** A picture as text, which the device's storage can keep. */
export async function dataUrlOf(picture: Blob): Promise<string> {
  const bytes = new Uint8Array(await picture.arrayBuffer())
  return PREFIX + btoa(Array.from(bytes, (byte) => String.fromCodePoint(byte)).join(''))
}

function blobOf(dataUrl: string): Blob {
  const bytes = Uint8Array.from(atob(dataUrl.slice(PREFIX.length)), (one) => one.codePointAt(0)!)
  return new Blob([bytes], { type: TYPE })
}

const FINAL = new Set<string>(['invalid-request', 'too-large', 'ended'])

/**
 * The service refuses the content, or the event has ended. Anything else, as of a network's sign-in page, is tried
 * again.
 */
export const isFinal = ({ status, code }: ClientError): boolean => status === 413 || FINAL.has(code)
