/** What waits for people and not for machines; the navigation counts it. */
import { countsOf } from './views/feedback/items.ts'
import { useResource } from './resource.ts'
import { client } from './session.ts'

const REPORTS_MS = 60_000

/** Reports that nobody has looked at; null: not known. */
export function useNewReports(): number | null {
  const reports = useResource(
    (signal) => client.listFeedback({ limit: 1 }, { signal }),
    REPORTS_MS,
    'new-reports',
  )
  const page = reports.value.value
  return page === null ? null : (countsOf(page)?.new ?? null)
}

/** Pilgrims who are not heard of; null: not known. */
export function useSilent(): number | null {
  const hour = useResource((signal) => client.readLastHour({}, { signal }), REPORTS_MS, 'silent')
  return hour.value.value?.walking?.silent ?? null
}
