import { figure } from '#shared/locales/units.ts'
import { SILENT_HOURS } from '#shared/core/rules/silence.ts'
import type { Data } from '#shared/client/index.ts'
import { Button } from '../../../design/button.tsx'
import { pageData } from '../../../frame/page-data.ts'
import { Ask } from '../../parts/actions.tsx'
import { absenceOf, Await, Panel, PanelFrom } from '../../parts/panel.tsx'
import { type Resource, useResource } from '../../resource.ts'
import { show } from '../../router.ts'
import { client } from '../../session.ts'
import { pair, words } from '../../words.ts'
import { progressText } from '../messages/sent-messages.tsx'
import { leftOutText, useLineConfigured, useRecipients } from '../messages/left-out-people.tsx'
import { ending } from '../../live.ts'

/** The end waits up to 20 s for the final flush before it answers. */
const END_TIMEOUT_MS = 60_000

export function EndEvent() {
  const said = words.value.lifecycle
  return (
    <Panel title={said.endTitle} kind="end-event">
      <p>
        <Ask
          ask={said.endButton}
          kind="danger"
          title={said.endTitle}
          button={said.endConfirm}
          danger
          typed={pageData().name}
          run={() => client.endActivity({}, { timeoutMs: END_TIMEOUT_MS })}
        >
          <p>{said.endText}</p>
          <p>{said.after}</p>
          <Preview />
        </Ask>
      </p>
    </Panel>
  )
}

/** What the end will do: dry runs of the end, and of its summary. */
function Preview() {
  const preview = useResource(client.previewEnd, 0, 'preview-end')
  const summary = useRecipients('all')
  return (
    <>
      <StillHeard />
      <Await from={preview}>{(value) => <Steps value={value} summary={summary} />}</Await>
    </>
  )
}

/** Nothing of theirs is taken after the end. */
function StillHeard() {
  const hour = useResource(client.readLastHour, 0, 'still-heard')
  const answer = hour.value.value
  if (answer === null) return <p class="quiet">{absenceOf(hour)}</p>
  const said = words.value.lifecycle
  const { pilgrims, silent } = answer.walking ?? {}
  const count = (known: number | undefined) =>
    known === undefined ? words.value.common.unknown : figure(known)
  return (
    <p class="row">
      {pilgrims === 0 ? null : <span class="warn-text">{pair(said.stillHeard, count(pilgrims))}</span>}
      {silent === 0 ? null : (
        <Button kind="plain" onClick={() => show('people', { silentHours: SILENT_HOURS })}>
          {pair(said.silent, count(silent))}
        </Button>
      )}
    </p>
  )
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
      <li>{said.endFlush(value.points_waiting)}</li>
      {value.points_journaled === 0 ? null : <li>{said.endJournals(value.points_journaled)}</li>}
      <li>{said.endCards(value.cards.total - value.cards.done)}</li>
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
      : pair(said.progressSummary, error.value.message)
  const { recipients, cost, quota_remaining, devices, left_out } = value.value
  const byPush = devices === 0 ? '' : ` ${pair(words.value.messages.devices, figure(devices))}`
  const text =
    recipients === 0 || !isConfigured
      ? `${said.endSummaryNobody} ${isConfigured ? leftOutText(left_out) : words.value.now.notConfigured}`
      : said.endSummary(recipients, cost) +
        (quota_remaining === null ? '' : ` ${pair(words.value.messages.left, figure(quota_remaining))}`)
  return text + byPush
}

// The end in progress: the final flush, the cards, the summary.

type Ending = NonNullable<Data<'readStatus'>['ending']>

const PREVIEW_MS = 5_000
const SUMMARY_MS = 10_000

export const EndProgress = ({ activity }: { readonly activity: Resource<Data<'readStatus'>> }) => (
  <PanelFrom
    title={titleOf(ending.value ?? activity.value.value?.ending)}
    kind="end-progress"
    from={activity}
  >
    {(read) => {
      const progress = ending.value ?? read.ending
      return (
        <>
          {progress === null ? (
            <p class="quiet">{words.value.common.unknown}</p>
          ) : (
            <Bars progress={progress} />
          )}
          {progress?.summary !== 'sent' ? null : (
            <p>
              <Button kind="plain" onClick={() => show('messages')}>
                {words.value.messages.title}
              </Button>
            </p>
          )}
          <p>{words.value.lifecycle.after}</p>
        </>
      )
    }}
  </PanelFrom>
)

const isFinished = ({ flush, cards, summary }: Ending): boolean =>
  flush === 'done' &&
  cards.total !== null &&
  cards.done >= cards.total &&
  (summary === 'sent' || summary === 'skipped')

function titleOf(progress: Ending | null | undefined): string {
  const said = words.value.lifecycle
  return progress !== null && progress !== undefined && isFinished(progress) ? said.ended : said.progress
}

const Bars = ({ progress }: { readonly progress: Ending }) => {
  const { flush, cards, summary } = progress
  const said = words.value.lifecycle
  return (
    <div class="progresses">
      {flush === 'done' ? (
        <Progress label={said.progressFlush} done={1} text={said.flushDone} />
      ) : (
        <Flushing />
      )}
      <Cards cards={cards} />
      {summary === 'waiting' ? (
        <Progress label={said.progressSummary} done={0} text={words.value.people.waits} />
      ) : (
        <Summary state={summary} />
      )}
      <output class="finished">{isFinished(progress) ? finishedText(summary) : ''}</output>
    </div>
  )
}

const finishedText = (summary: Ending['summary']): string =>
  summary === 'skipped' ? words.value.lifecycle.finishedWithout : words.value.lifecycle.finished

function Flushing() {
  const preview = useResource(client.previewEnd, PREVIEW_MS, 'end-waiting')
  const waiting = preview.value.value
  const text =
    waiting === null
      ? absenceOf(preview)
      : words.value.lifecycle.endFlush(waiting.points_waiting + waiting.points_journaled)
  return <Progress label={words.value.lifecycle.progressFlush} done={null} text={text} />
}

const Cards = ({ cards: { done, total } }: Pick<Ending, 'cards'>) => {
  const said = words.value.lifecycle
  const text = total === null ? words.value.people.waits : `${figure(done)} / ${figure(total)}`
  return (
    <Progress
      label={said.progressCards}
      done={total === null ? 0 : total === 0 ? 1 : Math.min(1, done / total)}
      text={text}
    />
  )
}

type Message = Data<'listMessages'>['items'][number]

/** The summary by its entry of the ledger: how many it has reached, or why nobody. */
function Summary({ state }: { readonly state: Message['state'] }) {
  const said = words.value.lifecycle
  const list = useResource(client.listMessages, SUMMARY_MS, 'end-summary', { cause: 'summary', limit: 1 })
  const message = list.value.value?.items[0]
  const { sent = 0, recipients = 0 } = message ?? {}
  return (
    <Progress
      label={said.progressSummary}
      done={{ sent: 1, skipped: 0, sending: recipients === 0 ? null : sent / recipients }[state]}
      text={
        message === undefined
          ? state === 'sending'
            ? absenceOf(list)
            : words.value.messages.states[state]
          : sentText(state, message)
      }
    />
  )
}

/** What is known of it in LINE, and of the devices that got it by Web Push. */
function sentText(state: Message['state'], { sent, recipients, failed, web_push }: Message): string {
  const inLine =
    state === 'skipped'
      ? words.value.messages.states.skipped
      : recipients === 0
        ? words.value.messages.toNobody
        : progressText({ sent, failed, waiting: recipients - sent - failed })
  const byPush = progressText(web_push)
  return byPush === '' ? inLine : `${inLine} · Web Push ${byPush}`
}

interface ProgressProps {
  readonly label: string
  /** 0 to 1; null: under way, and not known how far. */
  readonly done: number | null
  readonly text: string
}

/** A named bar. Its text says the same in words. */
const Progress = ({ label, done, text }: ProgressProps) => (
  <div class={done === 1 ? 'progress complete' : 'progress'}>
    <span>{label}</span>
    <progress max={1} {...(done === null ? {} : { value: done })} aria-label={label} />
    <span class="small">{text}</span>
  </div>
)
