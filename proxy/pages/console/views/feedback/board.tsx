import { useEffect, useRef } from 'preact/hooks'
import { date, number } from '../../clock.ts'
import { level, MANAGER } from '../../session.ts'
import { words } from '../../words.ts'
import { categoryText, inColumn, type Item, type Status, STATUSES } from './items.ts'

interface Props {
  readonly items: readonly Item[]
  /** Those that are shown. */
  readonly statuses: readonly Status[]
  /** Of all items, also those on other pages. */
  readonly counts: Readonly<Record<Status, number>> | null
  readonly chosen: number | null
  readonly onChoose: (id: number) => void
}

export const Board = ({ items, statuses, counts, chosen, onChoose }: Props) => (
  <div class="board">
    {statuses.map((status) => {
      const column = inColumn(items, status)
      const all = counts?.[status] ?? column.length
      const shown = all === column.length ? number(all) : `${number(column.length)} / ${number(all)}`
      const name = words.value.feedback.columns[status]
      return (
        <section
          key={status}
          aria-label={`${name}: ${shown}`}
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
        class="feedback-card"
        aria-pressed={isChosen}
        ref={button}
        onClick={() => onChoose(item.id)}
      >
        <span class="small quiet">
          #{item.id} · {categoryText(item.category)} · {date(item.created_at)}
          {item.screenshot_url === null ? '' : ' · ▣'}
        </span>
        <span class="feedback-text">{item.description}</span>
      </button>
    </li>
  )
}
