/**
 * The keyboard of the board. As in a mail program, an item that gets a status makes room for the next one of the list
 * that the operator works through, and the last change can be taken back.
 */
import type { Signal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { level, MANAGER } from '../../session.ts'
import { words } from '../../words.ts'
import {
  type Change,
  inColumn,
  type Item,
  ordered,
  takeBack,
  type Status,
  STATUSES,
  triage,
} from './items.ts'

interface Triage {
  readonly items: Signal<readonly Item[]>
  readonly chosen: Signal<number | null>
}

/** When the choice is drawn. Without one, the board has the focus, so that the keys still work. */
function focusChosen(): void {
  requestAnimationFrame(() => {
    const card = document.querySelector<HTMLElement>('.feedback-card[aria-pressed="true"]')
    ;(card ?? document.querySelector<HTMLElement>('.board-panel'))?.focus()
  })
}

/**
 * The item after one in its column, else the one before it.
 * @param leaving items whose change is under way
 */
function nextInColumn(
  items: readonly Item[],
  { id, status }: Item,
  leaving: ReadonlySet<number>,
): Item | null {
  const column = inColumn(items, status)
  const at = column.findIndex((item) => item.id === id)
  const stays = (item: Item) => !leaving.has(item.id)
  return column.slice(at + 1).find(stays) ?? column.slice(0, at).findLast(stays) ?? null
}

function createTriage({ items, chosen }: Triage) {
  const changes: Change[] = []
  const leaving = new Set<number>()
  const undo = async (change = changes.at(-1)): Promise<void> => {
    const at = change === undefined ? -1 : changes.indexOf(change)
    if (change === undefined || at < 0) return
    changes.splice(at, 1)
    if ((await takeBack(change)) === null) return
    chosen.value = change.id
    focusChosen()
  }
  const move = async (item: Item, status: Status): Promise<void> => {
    if (item.status === status || leaving.has(item.id)) return
    leaving.add(item.id)
    const next = nextInColumn(items.value, item, leaving)?.id ?? null
    chosen.value = next
    focusChosen()
    const done = await triage(item, status, {
      name: words.value.feedback.undo,
      run: (change) => void undo(change),
    })
    leaving.delete(item.id)
    if (done !== null) {
      changes.push(done)
      return
    }
    // It was refused: the operator sees it as it is now, unless they went on meanwhile.
    if (chosen.value !== next) return
    chosen.value = item.id
    focusChosen()
  }
  return { move, undo }
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && target.closest('input, textarea, select, dialog') !== null

const STEPS: Readonly<Record<string, number>> = { j: 1, k: -1 }
/** Only on a card: elsewhere they scroll. */
const STEPS_ON_CARD: Readonly<Record<string, number>> = { ...STEPS, arrowdown: 1, arrowup: -1 }

function stepOf({ key, target }: KeyboardEvent): number | undefined {
  const isOnCard = target instanceof HTMLElement && target.matches('.feedback-card')
  return (isOnCard ? STEPS_ON_CARD : STEPS)[key.toLowerCase()]
}

const PLACES: Readonly<Record<string, string>> = { n: 'feedback-note', o: 'feedback-screenshot' }

/** J, K and the arrows choose, 1 to 5 set the status, Z takes it back, N goes to the note, O to the screenshot. */
export function useTriageKeys(board: Triage): void {
  const { items, chosen } = board
  const actions = useRef<ReturnType<typeof createTriage> | null>(null)
  actions.current ??= createTriage(board)
  useEffect(() => {
    const { move, undo } = actions.current!
    const step = (by: number): void => {
      const all = ordered(items.value)
      const at = all.findIndex(({ id }) => id === chosen.value)
      // One that the page has chosen by itself is the first.
      const isOnCard = document.activeElement?.matches('.feedback-card') === true
      const next = all[Math.max(0, Math.min(all.length - 1, at < 0 || isOnCard ? at + by : at))]
      if (next === undefined) return
      chosen.value = next.id
      focusChosen()
    }
    const listen = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return
      const key = event.key.toLowerCase()
      const by = stepOf(event)
      if (by !== undefined) {
        event.preventDefault()
        step(by)
        return
      }
      if (key === 'z') void undo()
      const item = items.value.find(({ id }) => id === chosen.value)
      if (item === undefined) return
      const status = STATUSES[Number(key) - 1]
      if (status !== undefined && level.value >= MANAGER) void move(item, status)
      const place = PLACES[key]
      if (place === undefined) return
      event.preventDefault()
      document.getElementById(place)?.focus()
    }
    addEventListener('keydown', listen)
    return () => removeEventListener('keydown', listen)
  }, [items, chosen])
}
