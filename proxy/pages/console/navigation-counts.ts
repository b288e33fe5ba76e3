/** Counts in the navigation: work that is waiting for a person. */
import { createContext } from 'preact'
import type { Data } from '#shared/client/index.ts'
import { addHistory } from './rates.ts'
import { type Resource, useResource } from './resource.ts'
import { client, level, MANAGER } from './session.ts'
import { words } from './words.ts'
import { DAY_HOURS } from '#shared/core/rules/silence.ts'

const REPORTS_MS = 60_000

/** Reports that were not looked at yet. */
export const useNewReports = (): Resource<Data<'listFeedback'>> =>
  useResource(client.listFeedback, REPORTS_MS, 'new-reports', { limit: 1 })

/** `Silent for 3–24 h`: label of the navigation's count and of the list's filter that it opens. */
export const silenceText = (hours: number): string =>
  `${words.value.people.silentFor} ${hours < DAY_HOURS ? `${hours}–${DAY_HOURS}` : `≥ ${hours}`} h`

/** With the stream, only what it missed is read; a volunteer has no stream. */
const [HOUR_WITH_STREAM_MS, HOUR_MS] = [60_000, 30_000]

/** Data of the last hour, read once by the shell for all views. */
export const LastHour = createContext<Resource<Data<'readLastHour'>> | null>(null)

/** Reads the last hour, and adds what the chart missed. */
export const useLastHour = (): Resource<Data<'readLastHour'>> =>
  useResource<Data<'readLastHour'>, object>(
    async (input, { signal }) => {
      const answer = await client.readLastHour(input, { signal })
      if (answer.ok && !signal.aborted && answer.data.received !== null) addHistory(answer.data.received)
      return answer
    },
    level.value >= MANAGER ? HOUR_WITH_STREAM_MS : HOUR_MS,
    'last-hour',
  )
