/** Feedback: a board by status, one item with its screenshot beside it, triage by keyboard. */
import { figure } from '#shared/locales/units.ts'
import { pageWords } from '../../../frame/page-words.ts'
import { type Signal, useSignal } from '@preact/signals'
import { useCallback, useLayoutEffect, useEffect, useMemo, useRef } from 'preact/hooks'
import type { Data } from '#shared/client/index.ts'
import { Button } from '../../../design/button.tsx'
import { useSettled } from '../../parts/actions.tsx'
import { Icon } from '../../parts/icon.tsx'
import { PagedList } from '../../parts/paged-list.tsx'
import { date } from '../../clock.ts'
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
  ordered,
  isOfSafety,
} from './items.ts'
import { OneItem } from './one-item.tsx'
import { useTriageKeys } from './triage-by-keyboard.ts'

const EVERY_MS = 15_000
const PAGE = 100
/** Cards that are shown at once, and more with each press. */
const STEP = 25

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
            <details class="small">
              <summary>
                {words.value.system.filter}
                <span class="keyboard-help"> · {said.keys}</span>
              </summary>
              <div class="row">
                <StatusFilter page={page} chosen={status} />
                <CategoryFilter chosen={category} />
                <span class="keyboard-help">{level.value >= MANAGER ? said.help : said.helpRead}</span>
              </div>
            </details>
            {page.items.length === 0 ? <p>{words.value.common.none}</p> : null}
            {/* Another list begins with its first cards. */}
            <Page
              key={[status.value, category.value, search].join(' ')}
              page={page}
              chosen={chosen.value}
              onChoose={choose}
              shown={items}
            />
          </>
        )}
      </PagedList>
      {item === null ? null : <OneItem key={item.id} item={item} />}
    </div>
  )
}

interface PageProps {
  readonly page: Data<'listFeedback'>
  readonly chosen: number | null
  readonly onChoose: (id: number) => void
  /** Gets the items of the page, for the keyboard and for the item beside it. */
  readonly shown: Signal<readonly Item[]>
}

function Page({ page, chosen, onChoose, shown }: PageProps) {
  const isFirst = useRef(true)
  const most = useSignal(STEP)
  const all = useMemo(() => ordered(itemsOf(page)), [page])
  // The chosen one stays in sight, wherever its new status puts it.
  const items = useMemo(
    () => all.filter(({ id }, i) => i < most.value || id === chosen),
    [all, most.value, chosen],
  )
  // Before the page is seen: a key may follow at once.
  useLayoutEffect(() => {
    shown.value = items
    const [first] = inColumn(items, 'new')
    // Where the item stands beside the list.
    if (isFirst.current && first !== undefined && matchMedia('(width >= 75rem)').matches) onChoose(first.id)
    isFirst.current = false
  }, [items, shown, onChoose])
  return (
    <>
      <Board items={items} counts={countsOf(page)} chosen={chosen} onChoose={onChoose} />
      {all.length > items.length ? (
        <p class="more-cards">
          <Button onClick={() => (most.value += STEP)}>{pageWords.value.more}</Button>
        </p>
      ) : null}
    </>
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
  const { about, categories } = words.value.feedback
  return (
    <select
      aria-label={about}
      value={chosen.value}
      onChange={(event) => (chosen.value = event.currentTarget.value)}
    >
      <option value="">{about}</option>
      {Object.entries(categories).map(([name, text]) => (
        <option key={name} value={name}>
          {text}
        </option>
      ))}
    </select>
  )
}

interface FilterProps {
  readonly page: Data<'listFeedback'>
  readonly chosen: Signal<Filter>
}

/** Statuses that items have, with their numbers. */
const StatusFilter = ({ page, chosen }: FilterProps) => {
  const { columns } = words.value.feedback
  const { alerts, all } = { ...words.value.now, ...words.value.common }
  const listed = STATUSES.filter((status) => status === chosen.value || totalOf(page, status) !== 0)
  return (
    <select
      aria-label={alerts}
      value={chosen.value}
      onChange={(event) => (chosen.value = (['', ...listed] as const)[event.currentTarget.selectedIndex]!)}
    >
      {(['', ...listed] as const).map((status) => {
        const count = totalOf(page, status)
        const name = status === '' ? all : columns[status]
        return (
          <option key={status} value={status}>
            {count === null ? name : `${name} ${figure(count)}`}
          </option>
        )
      })}
    </select>
  )
}

interface Props {
  readonly items: readonly Item[]
  /** Of all items, also those on other pages. */
  readonly counts: Readonly<Record<Status, number>> | null
  readonly chosen: number | null
  readonly onChoose: (id: number) => void
}

/** A column for each status that a shown item has. */
const Board = ({ items, counts, chosen, onChoose }: Props) => (
  <div class="board">
    {STATUSES.map((status) => {
      const column = inColumn(items, status)
      if (column.length === 0) return null
      const all = counts?.[status] ?? column.length
      const shown = all === column.length ? figure(all) : `${figure(column.length)} / ${figure(all)}`
      const name = words.value.feedback.columns[status]
      return (
        <section key={status} aria-label={pageWords.value.pair(name, shown)} class={`column ${status}`}>
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
          {item.screenshot_url === null ? null : (
            <>
              {' '}
              <Icon name="picture" />
              <span class="visually-hidden">{words.value.feedback.screenshot}</span>
            </>
          )}
        </span>
        <span class="feedback-text">{item.description}</span>
      </button>
    </li>
  )
}
