/** The end in progress: the final flush, the cards, the summary. */
import type { Data } from '#shared/client/index.ts'
import { Button } from '../../../design/button.tsx'
import { number } from '../../clock.ts'
import { ending } from '../../live.ts'
import { absenceOf, PanelFrom } from '../../parts/panel.tsx'
import { Progress } from '../../parts/progress.tsx'
import { type Resource, useResource } from '../../resource.ts'
import { show } from '../../router.ts'
import { client } from '../../session.ts'
import { fill, words } from '../../words.ts'
import { AfterTheEnd } from './after-the-end.tsx'

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
                {words.value.lifecycle.readSummary}
              </Button>
            </p>
          )}
          <AfterTheEnd open />
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
        <Progress label={said.progressSummary} done={0} text={said.summaryStates.waiting} />
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
  const preview = useResource((signal) => client.previewEnd({}, { signal }), PREVIEW_MS, 'end-waiting')
  const waiting = preview.value.value
  const text =
    waiting === null
      ? absenceOf(preview)
      : fill(words.value.lifecycle.flushRunning, {
          points: number(waiting.points_waiting + waiting.points_journaled),
        })
  return <Progress label={words.value.lifecycle.progressFlush} done={null} text={text} />
}

const Cards = ({ cards: { done, total } }: Pick<Ending, 'cards'>) => {
  const said = words.value.lifecycle
  const figures = { done: number(done), total: number(total ?? 0) }
  const text = total === null ? said.cardsWaiting : total === 0 ? said.noCards : fill(said.cardsOf, figures)
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
  const list = useResource(
    (signal) => client.listMessages({ cause: 'summary', limit: 1 }, { signal }),
    SUMMARY_MS,
    'end-summary',
  )
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
            : said.summaryStates[state]
          : summaryText(state, message)
      }
    />
  )
}

/** What is known of it in LINE, and of the devices that got it by Web Push. */
function summaryText(state: Message['state'], { sent, recipients, failed, web_push }: Message): string {
  const said = words.value.lifecycle
  const figures = { sent: number(sent), total: number(recipients), failed: number(failed) }
  const inLine =
    state === 'skipped'
      ? said.summaryStates.skipped
      : recipients === 0
        ? said.summaryNobody
        : fill(failed > 0 ? said.summaryFailed : said.summaryFigures, figures)
  const devices = web_push.sent + web_push.waiting + web_push.failed
  if (devices === 0) return inLine
  const byPush = fill(words.value.messages.deviceFigures, {
    sent: number(web_push.sent),
    total: number(devices),
    failed: number(web_push.failed),
  })
  return `${inLine} · ${byPush}`
}
