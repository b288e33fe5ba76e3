/** Feedback: a board by status, one item with its screenshot beside it, triage by keyboard. */
import { type Signal, useSignal } from '@preact/signals'
import { useEffect, useLayoutEffect } from 'preact/hooks'
import type { Data } from '#shared/client/index.ts'
import { PagedList } from '../../parts/paged-list.tsx'
import { client, level, MANAGER } from '../../session.ts'
import { words } from '../../words.ts'
import { Board } from './board.tsx'
import { countsOf, type Item, itemsOf, ordered, type Status, STATUSES, totalOf, triage } from './items.ts'
import { OneItem } from './one-item.tsx'

const EVERY_MS = 15_000
const PAGE = 100

type Filter = Status | ''

export function Feedback() {
  const items = useSignal<readonly Item[]>([])
  const chosen = useSignal<number | null>(null)
  const status = useSignal<Filter>('')
  const choose = (id: number) => (chosen.value = id)
  useKeys(items, chosen)
  const item = items.value.find(({ id }) => id === chosen.value) ?? null
  const said = words.value.feedback
  return (
    <div class="view feedback">
      <h1 class="visually-hidden">{said.title}</h1>
      <PagedList
        title={said.title}
        kind="board-panel"
        query={{ limit: PAGE, ...(status.value === '' ? {} : { status: status.value }) }}
        read={client.listFeedback}
        everyMs={EVERY_MS}
        totalOf={(page) => totalOf(page, status.value)}
        actions={<StatusFilter value={status.value} onChoose={(to) => (status.value = to)} />}
      >
        {(page) => (
          <>
            <p class="small quiet">{level.value >= MANAGER ? said.help : said.helpRead}</p>
            <Page page={page} chosen={chosen.value} onChoose={choose} shown={items} />
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
  readonly chosen: number | null
  readonly onChoose: (id: number) => void
  /** Gets the items of the page, for the keyboard and for the item beside it. */
  readonly shown: Signal<readonly Item[]>
}

function Page({ page, chosen, onChoose, shown }: PageProps) {
  // Before the page is seen: a key may follow at once.
  useLayoutEffect(() => {
    shown.value = itemsOf(page)
  }, [page, shown])
  return <Board items={itemsOf(page)} counts={countsOf(page)} chosen={chosen} onChoose={onChoose} />
}

interface FilterProps {
  readonly value: Filter
  readonly onChoose: (status: Filter) => void
}

const StatusFilter = ({ value, onChoose }: FilterProps) => {
  const said = words.value.feedback
  return (
    <select
      class="status-filter"
      aria-label={said.all}
      value={value}
      onChange={({ currentTarget }) => onChoose(STATUSES.find((one) => one === currentTarget.value) ?? '')}
    >
      <option value="">{said.all}</option>
      {STATUSES.map((status) => (
        <option key={status} value={status}>
          {said.columns[status]}
        </option>
      ))}
    </select>
  )
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && target.closest('input, textarea, select, dialog') !== null

/** J and K choose, 1 to 5 set the status, N goes to the note, O to the screenshot. */
function useKeys(items: Signal<readonly Item[]>, chosen: Signal<number | null>): void {
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return
      const all = ordered(items.value)
      const at = all.findIndex(({ id }) => id === chosen.value)
      const step = { j: 1, k: -1 }[event.key.toLowerCase()]
      if (step !== undefined) {
        const next = all[Math.max(0, Math.min(all.length - 1, at + step))]
        if (next === undefined) return
        chosen.value = next.id
        // When it is drawn as chosen.
        requestAnimationFrame(() =>
          document.querySelector<HTMLElement>('.feedback-card[aria-pressed="true"]')?.focus(),
        )
        return
      }
      const item = all[at]
      if (item === undefined) return
      const status = STATUSES[Number(event.key) - 1]
      if (status !== undefined && level.value >= MANAGER) void triage(item, status)
      const target = { n: 'feedback-note', o: 'feedback-screenshot' }[event.key.toLowerCase()]
      if (target === undefined) return
      event.preventDefault()
      document.getElementById(target)?.focus()
    }
    addEventListener('keydown', listen)
    return () => removeEventListener('keydown', listen)
  }, [items, chosen])
}
