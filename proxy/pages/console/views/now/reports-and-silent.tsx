import type { Data } from '#shared/client/index.ts'
import { SILENT_HOURS } from '#shared/rules/silence.ts'
import { Button } from '../../../design/button.tsx'
import { number } from '../../clock.ts'
import { type Resource, useResource } from '../../resource.ts'
import { show } from '../../router.ts'
import { client } from '../../session.ts'
import { fill, words } from '../../words.ts'
import { countsOf } from '../feedback/items.ts'

const REPORTS_MS = 60_000

const useNewReports = (category?: 'safety'): number | null => {
  const reports = useResource(
    (signal) => client.listFeedback({ limit: 1, ...(category ? { category } : {}) }, { signal }),
    REPORTS_MS,
    `new reports ${category ?? ''}`,
  )
  const page = reports.value.value
  return page === null ? null : (countsOf(page)?.new ?? null)
}

/** What no part of the service can put right: reports that nobody has looked at, and pilgrims who are not heard of. */
export function ReportsAndSilent({ hour }: { readonly hour: Resource<Data<'readLastHour'>> }) {
  const said = words.value.now
  const reports = useNewReports()
  const safety = useNewReports('safety')
  const silent = hour.value.value?.walking?.silent ?? null
  return (
    <ul class="matters small">
      {reports === null ? null : (
        <li>
          <span class={reports > 0 ? 'warn-text' : undefined}>
            {fill(said.newReports, { count: number(reports) })}
            {safety === null || safety === 0 ? null : ` ${fill(said.ofSafety, { count: number(safety) })}`}
          </span>
          {reports === 0 ? null : (
            <Button kind="plain" onClick={() => show('feedback')}>
              {said.showReports}
            </Button>
          )}
        </li>
      )}
      {silent === null ? null : (
        <li>
          <span>{fill(said.silent, { count: number(silent), hours: SILENT_HOURS })}</span>
          {silent === 0 ? null : (
            <Button kind="plain" onClick={() => show('people', { silentHours: SILENT_HOURS })}>
              {said.showSilent}
            </Button>
          )}
        </li>
      )}
    </ul>
  )
}
