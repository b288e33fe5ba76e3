/** Feedback: a board by status, one item with its screenshot beside it, triage by keyboard. */
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { Pages } from '../../parts/pages.tsx'
import { PanelFrom } from '../../parts/panel.tsx'
import { useResource } from '../../resource.ts'
import { client, level, MANAGER } from '../../session.ts'
import { words } from '../../words.ts'
import { Board } from './board.tsx'
import { countsOf, type Item, itemsOf, ordered, type Status, STATUSES, triage } from './items.ts'
import { OneItem } from './one-item.tsx'

const EVERY_MS = 15_000
const PAGE = 100

type Filter = Status | ''

export function Feedback() {
  const chosen = useSignal<number | null>(null)
  const { filter, cursor, list } = useList()
  const items = itemsOf(list.value.value)
  const choose = (id: number) => (chosen.value = id)
  useKeys(items, chosen.value, choose)
  const item = items.find(({ id }) => id === chosen.value) ?? null
  const said = words.value.feedback
  return (
    <div class="view feedback">
      <h1 class="visually-hidden">{said.title}</h1>
      <PanelFrom title={said.title} kind="board-panel" from={list} actions={<StatusFilter {...filter} />}>
        {(page) => (
          <>
            <p class="small quiet">{level.value >= MANAGER ? said.help : said.helpRead}</p>
            <Board items={items} counts={countsOf(page)} chosen={chosen.value} onChoose={choose} />
            <Pages
              next={page.next_cursor}
              isFirst={cursor.value === undefined}
              onPage={(to) => (cursor.value = to)}
            />
          </>
        )}
      </PanelFrom>
      {item === null ? (
        <p class="card quiet placeholder">{said.choose}</p>
      ) : (
        <OneItem key={item.id} item={item} />
      )}
    </div>
  )
}

/** One page of the items, of one status or of all. */
function useList() {
  const status = useSignal<Filter>('')
  const cursor = useSignal<string | undefined>(undefined)
  const query = {
    limit: PAGE,
    ...(status.value === '' ? {} : { status: status.value }),
    ...(cursor.value === undefined ? {} : { cursor: cursor.value }),
  }
  const list = useResource(
    (signal) => client.listFeedback(query, { signal }),
    EVERY_MS,
    `feedback ${JSON.stringify(query)}`,
  )
  const onChoose = (chosen: Filter) => {
    status.value = chosen
    cursor.value = undefined
  }
  return { filter: { value: status.value, onChoose }, cursor, list }
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
function useKeys(items: readonly Item[], chosen: number | null, choose: (id: number) => void): void {
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return
      const all = ordered(items)
      const at = all.findIndex(({ id }) => id === chosen)
      const step = { j: 1, k: -1 }[event.key.toLowerCase()]
      if (step !== undefined) {
        const next = all[Math.max(0, Math.min(all.length - 1, at + step))]
        if (next !== undefined) choose(next.id)
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
  }, [items, chosen, choose])
}
