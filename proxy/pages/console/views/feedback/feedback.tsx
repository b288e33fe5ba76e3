/** Feedback: a board by status, one item with its screenshot beside it, triage by keyboard. */
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { PanelFrom } from '../../parts/panel.tsx'
import { Button } from '../../../design/button.tsx'
import { useResource } from '../../resource.ts'
import { client, level, MANAGER } from '../../session.ts'
import { words } from '../../words.ts'
import { Board } from './board.tsx'
import { type Item, itemsOf, ordered, STATUSES, triage } from './items.ts'
import { OneItem } from './one-item.tsx'

const EVERY_MS = 15_000
const PAGE = 100

export function Feedback() {
  const limit = useSignal(PAGE)
  const chosen = useSignal<number | null>(null)
  const list = useResource(
    (signal) => client.listFeedback({ limit: Math.min(limit.value, 200) }, { signal }),
    EVERY_MS,
    `feedback ${limit.value}`,
  )
  const items = itemsOf(list.value.value)
  const choose = (id: number) => (chosen.value = id)
  useKeys(items, chosen.value, choose)
  const item = items.find(({ id }) => id === chosen.value) ?? null
  const said = words.value.feedback
  return (
    <div class="view feedback">
      <h1 class="visually-hidden">{said.title}</h1>
      <PanelFrom title={said.title} kind="board-panel" from={list}>
        {({ next_cursor }) => (
          <>
            <p class="small quiet">{level.value >= MANAGER ? said.help : said.helpRead}</p>
            <Board items={items} chosen={chosen.value} onChoose={choose} />
            {next_cursor !== null && limit.value < 200 ? (
              <p>
                <Button onClick={() => (limit.value = 200)}>{said.loadMore}</Button>
              </p>
            ) : null}
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
