/** The pilgrim's tracker apps: made, listed, disconnected. */
import { signal } from '@preact/signals'
import type { ClientError, Data } from '#shared/client/index.ts'
import { client, noteError } from '../session/service.ts'

export type MadeTracker = Data<'createTracker'>
export type TrackerApp = keyof MadeTracker['apps']
type Tracker = Data<'listTrackers'>['items'][number]

export const trackers = signal<readonly Tracker[]>([])
/** The tracker that was just made: its key is shown once. */
export const made = signal<{ readonly app: TrackerApp; readonly tracker: MadeTracker } | null>(null)
export const making = signal<TrackerApp | null>(null)
export const trackerError = signal<ClientError | null>(null)

function fail(error: ClientError): void {
  trackerError.value = error
  noteError(error)
}

export async function readTrackers(): Promise<void> {
  made.value = trackerError.value = null
  const answer = await client.listTrackers({})
  if (answer.ok) trackers.value = answer.data.items
  else fail(answer.error)
}

/** Reads them again while they are shown. A failure leaves what is shown. */
export async function readTrackersAgain(): Promise<void> {
  if (trackers.peek().length === 0) return
  const answer = await client.listTrackers({})
  if (answer.ok) trackers.value = answer.data.items
}

export async function makeTracker(app: TrackerApp): Promise<void> {
  making.value = app
  trackerError.value = null
  const answer = await client.createTracker({ label: app })
  making.value = null
  if (!answer.ok) return fail(answer.error)
  made.value = { app, tracker: answer.data }
  trackers.value = [...trackers.value, answer.data]
}

export async function disconnect(id: string): Promise<void> {
  const answer = await client.revokeTracker({ id })
  if (!answer.ok && answer.error.code !== 'not-found') return fail(answer.error)
  trackers.value = trackers.value.filter((one) => one.id !== id)
  if (made.value?.tracker.id === id) made.value = null
}
