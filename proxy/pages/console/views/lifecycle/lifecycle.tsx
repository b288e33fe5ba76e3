/** The event: pause, resume and end it, its description, and its history. */
import type { Data } from '#shared/client/index.ts'
import { SILENT_HOURS } from '#shared/core/rules/silence.ts'
import { figure } from '#shared/locales/units.ts'
import { useEffect, useRef } from 'preact/hooks'
import { duration, fullDate } from '../../clock.ts'
import { eventNames } from '../../event.ts'
import { ending, status } from '../../live.ts'
import { Ask } from '../../parts/actions.tsx'
import { Happened, Listed } from '../../parts/paged-list.tsx'
import { Await, Panel, PanelFrom, absenceOf } from '../../parts/panel.tsx'
import { type Resource, useResource } from '../../resource.ts'
import { show } from '../../router.ts'
import { client, level, OWNER } from '../../session.ts'
import { EventSettings } from './event-settings.tsx'
import { PauseAndResume } from './pause-and-resume.tsx'
import { leftOutText, useLineConfigured, useRecipients } from '../messages/left-out-people.tsx'
import { progressText } from '../messages/messages.tsx'
import { pair, words } from '../../words.ts'
import { Button } from '../../../design/button.tsx'

const STATUS_MS = 15_000

export function Lifecycle() {
  // Read in addition to the stream, in case no stream gets through.
  const activity = useResource(client.readStatus, STATUS_MS, 'status')
  const state = status.value?.status ?? activity.value.value?.status
  return (
    <div class="view lifecycle">
      {state === 'ended' ? <EndProgress activity={activity} /> : <PauseAndResume activity={activity} />}
      {state === 'ended' ? null : <EndEvent />}
      {level.value < OWNER ? null : <EventSettings hasEnded={state === 'ended'} />}
      <History />
    </div>
  )
}

type Entry = Data<'readTimeline'>['entries'][number]

const EVERY_MS = 60_000
const SHOWN = 50
/** The service caches a response for a second. */
const KEPT_MS = 1_200

function History() {
  const timeline = useResource(client.readTimeline, EVERY_MS, 'timeline')
  const changedAt = status.value?.changed_at
  const { reload } = timeline
  const before = useRef(changedAt)
  useEffect(() => {
    if (before.current === changedAt) return undefined
    before.current = changedAt
    const timer = setTimeout(() => void reload(), KEPT_MS)
    return () => clearTimeout(timer)
  }, [changedAt, reload])
  return (
    <PanelFrom title={words.value.lifecycle.history} kind="history" from={timeline}>
      {({ entries }) => (
        <Listed>
          {entries
            .map((entry, i) => ({ entry, paused: pausedFor(entries, i) }))
            .slice(-SHOWN)
            .reverse()
            .map(({ entry, paused }) => (
              <Happened key={`${entry.at} ${entry.kind}`} entry={entry} at={fullDate(entry.at)}>
                {paused === null ? null : <span>{`${words.value.lifecycle.pausedFor} ${paused}`}</span>}
              </Happened>
            ))}
        </Listed>
      )}
    </PanelFrom>
  )
}

/** `4 min`: length of the pause that an entry ends; null if it ends none. */
function pausedFor(entries: readonly Entry[], i: number): string | null {
  const [began, ended] = [entries.slice(0, i).findLast(({ kind }) => kind !== 'push'), entries[i]!]
  if (ended.kind === 'push' || began?.kind !== 'paused') return null
  return duration(Date.parse(ended.at) - Date.parse(began.at))
}

/** Ending waits up to 20 s for the final flush before it responds. */
const END_TIMEOUT_MS = 60_000

function EndEvent() {
  const messages = words.value.lifecycle
  return (
    <Panel title={messages.endTitle} kind="end-event">
      <p>
        <Ask
          ask={messages.endButton}
          kind="danger"
          title={messages.endTitle}
          button={messages.endConfirm}
          danger
          typed={eventNames.value}
          run={() => client.endActivity({}, { timeoutMs: END_TIMEOUT_MS })}
        >
          <p>{messages.endText}</p>
          <p>{messages.after}</p>
          <Preview />
        </Ask>
      </p>
    </Panel>
  )
}

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

/** Pilgrims who were seen recently; their points are rejected after the end. */
function StillHeard() {
  const hour = useResource(client.readLastHour, 0, 'still-heard')
  const answer = hour.value.value
  if (answer === null) return <p class="quiet">{absenceOf(hour)}</p>
  const messages = words.value.lifecycle
  const { pilgrims, silent } = answer.walking ?? {}
  const count = (known: number | undefined) =>
    known === undefined ? words.value.common.unknown : figure(known)
  return (
    <p class="row">
      {pilgrims === 0 ? null : <span class="warn-text">{pair(messages.stillHeard, count(pilgrims))}</span>}
      {silent === 0 ? null : (
        <Button kind="plain" onClick={() => show('people', { silentHours: SILENT_HOURS })}>
          {pair(messages.silent, count(silent))}
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
  const messages = words.value.lifecycle
  const isConfigured = useLineConfigured()
  return (
    <ul class="steps">
      <li>{messages.endFlush(value.points_waiting)}</li>
      {value.points_journaled === 0 ? null : <li>{messages.endJournals(value.points_journaled)}</li>}
      <li>{messages.endCards(value.cards.total - value.cards.done)}</li>
      <li>{summaryText(summary, isConfigured)}</li>
    </ul>
  )
}

function summaryText(summary: StepsProps['summary'], isConfigured: boolean): string {
  const messages = words.value.lifecycle
  const { value, error } = summary
  if (value.value === null)
    return error.value === null || error.value.status === 429
      ? absenceOf(summary)
      : pair(messages.progressSummary, error.value.message)
  const { recipients, cost, quota_remaining, devices, left_out } = value.value
  const byPush = devices === 0 ? '' : ` ${pair(words.value.messages.devices, figure(devices))}`
  const text =
    recipients === 0 || !isConfigured
      ? `${messages.endSummaryNobody} ${isConfigured ? leftOutText(left_out) : words.value.now.notConfigured}`
      : messages.endSummary(recipients, cost) +
        (quota_remaining === null ? '' : ` ${pair(words.value.messages.left, figure(quota_remaining))}`)
  return text + byPush
}

// The end in progress: the final flush, the cards, the summary.

type Ending = NonNullable<Data<'readStatus'>['ending']>

const PREVIEW_MS = 5_000
const SUMMARY_MS = 10_000

const EndProgress = ({ activity }: { readonly activity: Resource<Data<'readStatus'>> }) => (
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
                {words.value.nav.messages}
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
  const messages = words.value.lifecycle
  return progress !== null && progress !== undefined && isFinished(progress)
    ? messages.ended
    : messages.progress
}

const Bars = ({ progress }: { readonly progress: Ending }) => {
  const { flush, cards, summary } = progress
  const messages = words.value.lifecycle
  return (
    <div class="progresses">
      {flush === 'done' ? (
        <Progress label={messages.progressFlush} done={1} text={messages.flushDone} />
      ) : (
        <Flushing />
      )}
      <Cards cards={cards} />
      {summary === 'waiting' ? (
        <Progress label={messages.progressSummary} done={0} text={words.value.people.waits} />
      ) : (
        <Summary state={summary} />
      )}
      <output class="finished">
        {isFinished(progress) ? (summary === 'skipped' ? messages.finishedWithout : messages.finished) : ''}
      </output>
    </div>
  )
}

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
  const messages = words.value.lifecycle
  const text = total === null ? words.value.people.waits : `${figure(done)} / ${figure(total)}`
  return (
    <Progress
      label={messages.progressCards}
      done={total === null ? 0 : total === 0 ? 1 : Math.min(1, done / total)}
      text={text}
    />
  )
}

type Message = Data<'listMessages'>['items'][number]

/** The final summary, from the message list: how many people it reached, or why none. */
function Summary({ state }: { readonly state: Message['state'] }) {
  const messages = words.value.lifecycle
  const list = useResource(client.listMessages, SUMMARY_MS, 'end-summary', { cause: 'summary', limit: 1 })
  const message = list.value.value?.items[0]
  const { sent = 0, failed = 0, recipients = 0, web_push: byPush } = message ?? {}
  return (
    <Progress
      label={messages.progressSummary}
      hasFailed={failed > 0 || (byPush?.failed ?? 0) > 0}
      done={{ sent: 1, skipped: 0, expired: 0, sending: recipients === 0 ? null : sent / recipients }[state]}
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

function sentText(state: Message['state'], { sent, recipients, failed, web_push }: Message): string {
  const inLine =
    state === 'skipped' || state === 'expired'
      ? words.value.messages.states[state]
      : recipients === 0
        ? words.value.messages.toNobody
        : progressText({ sent, failed, waiting: recipients - sent - failed })
  const byPush = progressText(web_push)
  return byPush === '' ? inLine : `${inLine} · Web Push ${byPush}`
}

interface ProgressProps {
  readonly label: string
  /** 0 to 1; null: in progress, at an unknown point. */
  readonly done: number | null
  readonly text: string
  /** A part of it failed. */
  readonly hasFailed?: boolean
}

const Progress = ({ label, done, text, hasFailed = false }: ProgressProps) => (
  <div class={`progress ${done === 1 ? (hasFailed ? 'failed' : 'complete') : ''}`}>
    <span>{label}</span>
    <progress max={1} {...(done === null ? {} : { value: done })} aria-label={label} />
    <span class="small">{text}</span>
  </div>
)
