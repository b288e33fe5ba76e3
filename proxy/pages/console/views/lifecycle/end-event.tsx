import { useSignal } from '@preact/signals'
import type { Data } from '#shared/client/index.ts'
import { Button } from '../../../design/button.tsx'
import { pageData } from '../../../frame/page-data.ts'
import { number } from '../../clock.ts'
import { Confirm } from '../../parts/confirm.tsx'
import { absenceOf, Await, Panel } from '../../parts/panel.tsx'
import { type Resource, useResource } from '../../resource.ts'
import { show } from '../../router.ts'
import { client } from '../../session.ts'
import { fill, words } from '../../words.ts'
import { AfterTheEnd } from './after-the-end.tsx'
import { useLineConfigured, whyNobody } from './who-is-told.tsx'

/** The end waits up to 20 s for the final flush before it answers. */
const END_TIMEOUT_MS = 60_000

export function EndEvent() {
  const said = words.value.lifecycle
  const asking = useSignal(false)
  return (
    <Panel title={said.endTitle} kind="end-event">
      <p>{said.endText}</p>
      <AfterTheEnd />
      <p class="row wraps">
        <Button kind="danger" onClick={() => (asking.value = true)}>
          {said.endButton}
        </Button>
        <Button kind="plain" onClick={() => show('people', { silentHours: 1 })}>
          {said.silent}
        </Button>
      </p>
      <Confirm
        title={said.endTitle}
        open={asking.value}
        onClose={() => (asking.value = false)}
        button={said.endConfirm}
        danger
        typed={pageData().name}
        run={() => client.endActivity({}, { timeoutMs: END_TIMEOUT_MS })}
      >
        <p>{said.endText}</p>
        {asking.value ? <Preview /> : null}
      </Confirm>
    </Panel>
  )
}

/** What the end will do: dry runs of the end, and of its summary. */
function Preview() {
  const preview = useResource((signal) => client.previewEnd({}, { signal }), 0, 'preview-end')
  const summary = useResource(
    (signal) => client.sendPush({ audience: 'all', text: '·', dry_run: true }, { signal }),
    0,
    'preview-summary',
  )
  return (
    <>
      <StillHeard />
      <h3>{words.value.lifecycle.endSteps}</h3>
      <Await from={preview}>{(value) => <Steps value={value} summary={summary} />}</Await>
    </>
  )
}

/** Nothing of theirs is taken after the end. */
function StillHeard() {
  const hour = useResource((signal) => client.readLastHour({}, { signal }), 0, 'still-heard')
  const answer = hour.value.value
  if (answer === null) return <p class="quiet">{absenceOf(hour)}</p>
  const heard = answer.walking?.pilgrims
  if (heard === 0) return null
  const count = heard === undefined ? words.value.common.unknown : number(heard)
  return <p class="warn-text">{fill(words.value.lifecycle.stillHeard, { count })}</p>
}

interface StepsProps {
  readonly value: Data<'previewEnd'>
  readonly summary: Resource<Data<'sendPush'>>
}

const Steps = ({ value, summary }: StepsProps) => {
  const said = words.value.lifecycle
  const isConfigured = useLineConfigured()
  return (
    <ul class="steps">
      <li>
        {fill(said.endFlush, {
          points: number(value.points_waiting),
          pilgrims: number(value.pilgrims_waiting),
        })}
      </li>
      {value.points_journaled === 0 ? null : (
        <li>{fill(said.endJournals, { points: number(value.points_journaled) })}</li>
      )}
      <li>
        {fill(value.cards.done === 0 ? said.endCardsNone : said.endCards, {
          total: number(value.cards.total),
          done: number(value.cards.done),
        })}
      </li>
      <li>{summaryText(summary, isConfigured)}</li>
    </ul>
  )
}

function summaryText(summary: StepsProps['summary'], isConfigured: boolean): string {
  const said = words.value.lifecycle
  const { value, error } = summary
  if (value.value === null)
    return error.value === null || error.value.status === 429
      ? absenceOf(summary)
      : fill(said.endSummaryUnknown, { why: error.value.message })
  const { recipients, cost, quota_remaining, devices, left_out } = value.value
  const byPush = devices === 0 ? '' : ` ${fill(words.value.messages.devices, { devices: number(devices) })}`
  const text =
    recipients === 0 || !isConfigured
      ? fill(said.endSummaryNobody, {
          why: isConfigured ? whyNobody(left_out) : words.value.now.notConfigured,
        })
      : fill(said.endSummary, {
          recipients: number(recipients),
          cost: number(cost),
          left: quota_remaining === null ? said.endUnlimited : number(quota_remaining),
        })
  return text + byPush
}
