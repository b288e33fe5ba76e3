/** What pilgrims tell the organisers. */
import type { WalkWords } from '#shared/locales/walk-words.ts'
import { show, type View as Name } from '../route.ts'
import { profile } from '../session/service.ts'
import { draft } from '../feedback/survey.ts'
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

export function Say({ words }: { readonly words: WalkWords }) {
  const { say } = words
  const state =
    Object.keys(draft.value).length > 0
      ? say.surveyDraft
      : profile.value?.survey_completed === 1
        ? say.surveyDone
        : undefined
  return (
    <View title={say.title}>
      <ul class="rows card">
        <Way to="survey" title={say.survey} more={state} />
        <Way to="feedback" title={say.feedback} more={say.feedbackWhy} />
      </ul>
    </View>
  )
}
