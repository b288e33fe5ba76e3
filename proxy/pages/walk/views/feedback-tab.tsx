/** The tab for reports to the organisers and the survey. */
import { words } from '../words.ts'
import type { WalkWords } from '#shared/locales/words.ts'
import { whenText } from '../format.ts'
import { show, type View as Name } from '../route.ts'
import { now } from '../session/clock.ts'
import { hasEnded, profile } from '../session/service.ts'
import { arrivedReport, isBegun, refusedReport, reportWaits } from '../feedback/report.ts'
import { draft, surveyWaits } from '../feedback/survey.ts'
import { Notice } from './notice.tsx'
import { View } from './view.tsx'

/** A row that leads to another view. */
export const Way = (props: {
  readonly to: Name
  readonly title: string
  readonly more?: string | undefined
}) => (
  <li>
    <button type="button" class="leads" onClick={() => show(props.to)}>
      <span class="grow">
        <strong>{props.title}</strong>
        {props.more === undefined ? null : (
          <>
            <br />
            <span class="quiet">{props.more}</span>
          </>
        )}
      </span>
      <span aria-hidden="true">›</span>
    </button>
  </li>
)

export const Say = () => (
  <View title={words.value.tabs.say}>
    <ul class="rows card">
      <Way to="survey" title={words.value.say.survey} more={surveyText(words.value.say)} />
      <Way to="feedback" title={words.value.say.feedback} more={reportText()} />
    </ul>
  </View>
)

function surveyText(words: WalkWords['say']): string | undefined {
  if (surveyWaits.value) return words.surveyWaits
  if (hasEnded()) return words.closed
  if (Object.keys(draft.value).length > 0) return words.draft
  return profile.value?.survey_completed === 1 ? words.surveyDone : undefined
}

/** State of the last report. */
function reportText(): string | undefined {
  const { say, feedback } = words.value
  if (reportWaits.value) return feedback.waits
  if (hasEnded()) return say.closed
  if (isBegun() || refusedReport.value !== null) return say.draft
  const last = arrivedReport.value
  return last === null ? undefined : say.reportArrived(last.number, whenText(last.atMs, now()))
}

/** Shown before the pilgrim writes a report that would be rejected. */
export const Closed = () => (hasEnded() ? <Notice kind="warning">{words.value.say.closed}</Notice> : null)
