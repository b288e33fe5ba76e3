/** What waits for people and not for machines; the navigation counts it. */
import { createContext } from 'preact'
import type { Data } from '#shared/client/index.ts'
import { addHistory } from './rates.ts'
import { type Resource, useResource } from './resource.ts'
import { client, level, MANAGER } from './session.ts'
import { words } from './words.ts'
import { DAY_HOURS } from '#shared/core/rules/silence.ts'

const REPORTS_MS = 60_000

/** Reports that nobody has looked at. */
export const useNewReports = (): Resource<Data<'listFeedback'>> =>
  useResource(client.listFeedback, REPORTS_MS, 'new-reports', { limit: 1 })

/** `Silent for 3–24 h`: so the number of the navigation, and the choice of the list that it leads to, are called. */
export const silenceText = (hours: number): string =>
  `${words.value.people.silentFor} ${hours < DAY_HOURS ? `${hours}–${DAY_HOURS}` : `≥ ${hours}`} h`

/** With the stream only what it missed is read; a volunteer has no stream. */
const [HOUR_WITH_STREAM_MS, HOUR_MS] = [60_000, 30_000]

/** The last hour, which the shell reads once for all that is on the page. */
export const LastHour = createContext<Resource<Data<'readLastHour'>> | null>(null)

/** Reads it. What the chart did not see is put into it. */
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
