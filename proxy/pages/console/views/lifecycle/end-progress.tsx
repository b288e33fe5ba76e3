/** The end in progress: the final flush, the cards, the summary. */
import type { Data } from '#shared/client/index.ts'
import { number } from '../../clock.ts'
import { ending } from '../../live.ts'
import { absenceOf, PanelFrom } from '../../parts/panel.tsx'
import { Progress } from '../../parts/progress.tsx'
import { type Resource, useResource } from '../../resource.ts'
import { client } from '../../session.ts'
import { fill, words } from '../../words.ts'

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
      return progress === null ? (
        <p class="quiet">{words.value.common.unknown}</p>
      ) : (
        <Bars progress={progress} />
      )
    }}
  </PanelFrom>
)

const isFinished = ({ flush, cards, summary }: Ending): boolean =>
  flush === 'done' && cards.total !== null && cards.done >= cards.total && summary === 'sent'

function titleOf(progress: Ending | null | undefined): string {
  const said = words.value.lifecycle
  return progress !== null && progress !== undefined && isFinished(progress) ? said.ended : said.progress
}

const Bars = ({ progress }: { readonly progress: Ending }) => {
  const { flush, cards, summary } = progress
  return (
    <div class="progresses">
      {flush === 'done' ? (
        <Progress
          label={words.value.lifecycle.progressFlush}
          done={1}
          text={words.value.lifecycle.flushDone}
        />
      ) : (
        <Flushing />
      )}
      <Cards cards={cards} />
      {summary === 'sending' ? (
        <Sending />
      ) : (
        <Progress
          label={words.value.lifecycle.progressSummary}
          done={summary === 'sent' ? 1 : 0}
          text={words.value.lifecycle.summaryStates[summary]}
        />
      )}
      <output class="finished">{isFinished(progress) ? words.value.lifecycle.finished : ''}</output>
    </div>
  )
}

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

function Sending() {
  const said = words.value.lifecycle
  const list = useResource(
    (signal) => client.listMessages({ cause: 'summary', limit: 1 }, { signal }),
    SUMMARY_MS,
    'end-summary',
  )
  const page = list.value.value
  const [sent, total] = [page?.items[0]?.sent ?? 0, page?.items[0]?.recipients ?? 0]
  return (
    <Progress
      label={said.progressSummary}
      done={total === 0 ? null : sent / total}
      text={
        page === null
          ? absenceOf(list)
          : fill(said.summaryStates.sending, { sent: number(sent), total: number(total) })
      }
    />
  )
}
