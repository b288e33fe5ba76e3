/** The public map in the console: totals, front, middle and tail. Its cells are not shown, so only changes are read. */
import { useRef } from 'preact/hooks'
import type { EventMap } from '#shared/client/index.ts'
import { type Resource, useResource } from '../../resource.ts'
import { client } from '../../session.ts'

const EVERY_MS = 10_000

/** The map without its cells. */
export type Overview = Omit<EventMap, 'cells' | 'since'>

/** Reads the map, whole the first time, and then what has changed. */
export function useEventMap(): Resource<Overview> {
  const known = useRef<Overview | null>(null)
  return useResource<Overview>(
    async (signal) => {
      const last = known.current
      const answer = await client.readEventMap(last === null ? {} : { since: String(last.version) }, {
        signal,
      })
      if (!answer.ok) return answer
      const { cells: _cells, since: _since, ...changed } = answer.data
      const data = { ...last, ...changed } as Overview
      known.current = data
      return { ...answer, data }
    },
    EVERY_MS,
    'event-map',
  )
}
