/** Feedback: a board by status, one item with its screenshot beside it, triage by keyboard. */
import { pageWords } from '../../../frame/page-words.ts'
import { type Signal, useSignal } from '@preact/signals'
import { useCallback, useLayoutEffect, useEffect, useRef } from 'preact/hooks'
import type { Data } from '#shared/client/index.ts'
import { Segments } from '../../../design/button.tsx'
import { useSettled } from '../../parts/actions.tsx'
import { PagedList } from '../../parts/paged-list.tsx'
import { number, date } from '../../clock.ts'
import { client, level, MANAGER } from '../../session.ts'
import { words } from '../../words.ts'
import {
  countsOf,
  type Item,
  itemsOf,
  type Status,
  STATUSES,
  totalOf,
  categoryText,
  inColumn,
  isOfSafety,
} from './items.ts'
import { OneItem } from './one-item.tsx'
import { useTriageKeys } from './triage-by-keyboard.ts'

const EVERY_MS = 15_000
const PAGE = 100

type Filter = Status | ''

export function Feedback() {
  const items = useSignal<readonly Item[]>([])
  const chosen = useSignal<number | null>(null)
  const status = useSignal<Filter>('')
  const category = useSignal('')
  const typed = useSignal('')
  const search = useSettled(typed.value.trim())
  const choose = useCallback((id: number) => (chosen.value = id), [chosen])
  useTriageKeys({ items, chosen })
  const item = items.value.find(({ id }) => id === chosen.value) ?? null
  const said = words.value.feedback
  return (
    <div class="view feedback">
      <h1 class="visually-hidden">{said.title}</h1>
      <PagedList
        title={said.title}
        kind="board-panel"
        query={{
          limit: PAGE,
          ...(status.value === '' ? {} : { status: status.value }),
          ...(category.value === '' ? {} : { category: category.value }),
          ...(search === '' ? {} : { search }),
        }}
        read={client.listFeedback}
        everyMs={EVERY_MS}
        totalOf={(page) => totalOf(page, status.value)}
        actions={<SearchField typed={typed} />}
      >
        {(page) => (
          <>
            <details class="small quiet keyboard-help">
              <summary>{said.keys}</summary>
              {level.value >= MANAGER ? said.help : said.helpRead}
            </details>
            <CategoryFilter chosen={category} />
            <StatusFilter page={page} value={status.value} onChoose={(to) => (status.value = to)} />
            {search !== '' && status.value === '' && category.value === '' && page.items.length === 0 ? (
              <p>{said.notFound}</p>
            ) : null}
            <Page page={page} filter={status.value} chosen={chosen.value} onChoose={choose} shown={items} />
          </>
        )}
      </PagedList>
      {item === null ? (
        <p class="card quiet placeholder">{said.choose}</p>
      ) : (
        <OneItem key={item.id} item={item} />
      )}
    </div>
  )
}

interface PageProps {
  readonly page: Data<'listFeedback'>
  readonly filter: Filter
  readonly chosen: number | null
  readonly onChoose: (id: number) => void
  /** Gets the items of the page, for the keyboard and for the item beside it. */
  readonly shown: Signal<readonly Item[]>
}

function Page({ page, filter, chosen, onChoose, shown }: PageProps) {
  const isFirst = useRef(true)
  // Before the page is seen: a key may follow at once.
  useLayoutEffect(() => {
    shown.value = itemsOf(page)
    const [first] = inColumn(shown.value, 'new')
    // Where the item stands beside the list.
    if (isFirst.current && first !== undefined && matchMedia('(width >= 75rem)').matches) onChoose(first.id)
    isFirst.current = false
  }, [page, shown, onChoose])
  return (
    <Board
      items={itemsOf(page)}
      statuses={filter === '' ? STATUSES : [filter]}
      counts={countsOf(page)}
      chosen={chosen}
      onChoose={onChoose}
    />
  )
}

const SearchField = ({ typed }: { readonly typed: Signal<string> }) => (
  <input
    type="search"
    class="feedback-search"
    aria-label={words.value.feedback.search}
    placeholder={words.value.feedback.search}
    value={typed.value}
    onInput={(event) => (typed.value = event.currentTarget.value)}
  />
)

/** What the report is about, as the pilgrim chose it. */
const CategoryFilter = ({ chosen }: { readonly chosen: Signal<string> }) => {
  const { about, categories, all } = words.value.feedback
  return (
    <label class="row small">
      <span>{about}</span>
      <select value={chosen.value} onChange={(event) => (chosen.value = event.currentTarget.value)}>
        <option value="">{all}</option>
        {Object.entries(categories).map(([name, text]) => (
          <option key={name} value={name}>
            {text}
          </option>
        ))}
      </select>
    </label>
  )
}

interface FilterProps {
  readonly page: Data<'listFeedback'>
  readonly value: Filter
  readonly onChoose: (status: Filter) => void
}

/** Which statuses are listed, with the number of items of each. */
const StatusFilter = ({ page, value, onChoose }: FilterProps) => {
  const said = words.value.feedback
  const option = (status: Filter, name: string) => {
    const count = totalOf(page, status)
    return { value: status, text: count === null ? name : `${name} ${number(count)}` }
  }
  return (
    <Segments
      label={said.filter}
      options={[option('', said.all), ...STATUSES.map((status) => option(status, said.columns[status]))]}
      value={value}
      onChoose={onChoose}
    />
  )
}

interface Props {
  readonly items: readonly Item[]
  /** Those that are shown. */
  readonly statuses: readonly Status[]
  /** Of all items, also those on other pages. */
  readonly counts: Readonly<Record<Status, number>> | null
  readonly chosen: number | null
  readonly onChoose: (id: number) => void
}

const Board = ({ items, statuses, counts, chosen, onChoose }: Props) => (
  <div class="board">
    {statuses.map((status) => {
      const column = inColumn(items, status)
      const all = counts?.[status] ?? column.length
      const shown = all === column.length ? number(all) : `${number(column.length)} / ${number(all)}`
      const name = words.value.feedback.columns[status]
      return (
        <section
          key={status}
          aria-label={pageWords.value.pair(name, shown)}
          class={`column ${status}${column.length === 0 ? ' empty' : ''}`}
        >
          <h3>
            {level.value >= MANAGER ? <kbd>{STATUSES.indexOf(status) + 1}</kbd> : null} {name}{' '}
            <span class="quiet">{shown}</span>
          </h3>
          <ul>
            {column.map((item) => (
              <Card key={item.id} item={item} isChosen={item.id === chosen} onChoose={onChoose} />
            ))}
          </ul>
        </section>
      )
    })}
  </div>
)

interface CardProps {
  readonly item: Item
  readonly isChosen: boolean
  readonly onChoose: (id: number) => void
}

function Card({ item, isChosen, onChoose }: CardProps) {
  const button = useRef<HTMLButtonElement>(null)
  // The keyboard may have chosen it out of sight.
  useEffect(() => {
    if (isChosen) button.current!.scrollIntoView({ block: 'nearest' })
  }, [isChosen])
  return (
    <li>
      <button
        type="button"
        class={isOfSafety(item) ? 'feedback-card safety' : 'feedback-card'}
        aria-pressed={isChosen}
        ref={button}
        onClick={() => onChoose(item.id)}
      >
        <span class="small quiet">
          #{item.id} · {categoryText(item.category)} · {date(item.created_at)}
          {item.screenshot_url === null ? '' : ' · 📎'}
        </span>
        <span class="feedback-text">{item.description}</span>
      </button>
    </li>
  )
}
