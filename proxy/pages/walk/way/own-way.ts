/** The pilgrim's own way as the service counted it, by day; the last answer is kept for dead zones. */
import { signal } from '@preact/signals'
import type { ClientError, Data } from '#shared/client/index.ts'
import { keep, kept } from '../session/kept.ts'
import { client, noteError, refreshProfile } from '../session/service.ts'

export type OwnWalk = Data<'readOwnWalk'>
export type Route = Data<'readRoute'>

export const ownWay = kept<OwnWalk | null>('walk-way', null)
export const route = kept<Route | null>('walk-route', null)
export const wayError = signal<ClientError | null>(null)

/** Reads the way of a day: by default the last one. */
export async function readWay(day?: string): Promise<void> {
  const answer = await client.readOwnWalk(day === undefined ? {} : { day })
  wayError.value = answer.ok ? null : answer.error
  if (answer.ok) keep(ownWay, answer.data)
  else noteError(answer.error)
  if (route.value === null) {
    const read = await client.readRoute({})
    if (read.ok) keep(route, read.data)
  }
  await refreshProfile()
}
