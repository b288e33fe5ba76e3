/** A card on a single place of the map: shown while the place is pointed at, and kept when it is chosen. */
import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { Button } from '../../design/button.tsx'
import { words } from '../words.ts'
import type { Placing } from '../../map/mark-names.ts'
import type { Dot, Pointing } from './over-map.tsx'
import { pageWords } from '../../frame/language.ts'

/** Between the place and its card, and between the card and the edge of the map. */
const AWAY_PX = 14
const EDGE_PX = 8
/** Whoever is nearer than this on the screen lies under the same finger. */
const SAME_PX = 14
const MOST_NEAR = 8

/** Puts a card above its place, or below where there is no room, within the map. */
export function placeCard(card: HTMLElement, place: Placing, { lng, lat }: Pick<Dot, 'lng' | 'lat'>): void {
  const map = card.parentElement!
  const [width, height] = [map.clientWidth, map.clientHeight]
  const { x, y } = place(lng, lat)
  card.classList.toggle('out-of-sight', x < 0 || y < 0 || x > width || y > height)
  const above = y - card.offsetHeight - AWAY_PX
  const left = Math.max(EDGE_PX, Math.min(x - card.offsetWidth / 2, width - card.offsetWidth - EDGE_PX))
  const top =
    above >= EDGE_PX ? above : Math.max(EDGE_PX, Math.min(y + AWAY_PX, height - card.offsetHeight - EDGE_PX))
  card.style.transform = `translate(${Math.round(left)}px, ${Math.round(top)}px)`
}

/** The place nearest to a tap; null if none is under the finger. */
export function dotAt(
  dots: readonly Dot[],
  place: Placing,
  at: { x: number; y: number },
  mostPx = 20,
): Dot | null {
  let [best, least] = [null as Dot | null, mostPx]
  for (const dot of dots) {
    const { x, y } = place(dot.lng, dot.lat)
    const away = Math.hypot(x - at.x, y - at.y)
    if (away <= least) [best, least] = [dot, away]
  }
  return best
}

const nearOf = (dot: Dot, dots: readonly Dot[], place: Placing): readonly Dot[] => {
  const here = place(dot.lng, dot.lat)
  return dots.filter((other) => {
    if (other.id === dot.id) return false
    const { x, y } = place(other.lng, other.lat)
    return Math.hypot(x - here.x, y - here.y) < SAME_PX
  })
}

interface Props {
  readonly dots: readonly Dot[]
  readonly pointing: Pointing
  readonly place: { readonly current: Placing | null }
  /** Gives the focus back to the place. */
  readonly onLeave: (id: string) => void
  readonly children: (dot: Dot) => ComponentChildren
}

export function DotCard({ dots, pointing, place, onLeave, children }: Props) {
  const element = useRef<HTMLElement>(null)
  const pointed = pointing.at.value
  const dot = dots.find(({ id }) => id === pointed?.id) ?? null
  const latest = useRef(dot)
  latest.current = dot
  const shown = dot?.id
  // What the card says comes later, and makes it larger.
  useLayoutEffect(() => {
    const card = element.current
    if (card === null) return undefined
    const observer = new ResizeObserver(() => {
      if (latest.current !== null && place.current !== null) placeCard(card, place.current, latest.current)
    })
    observer.observe(card)
    return () => observer.disconnect()
  }, [shown, place])
  const focused = pointed?.focused === true && dot !== null
  useEffect(() => {
    if (focused) element.current?.querySelector('button')?.focus()
  }, [focused, dot?.id])
  const leave = () => {
    const held = element.current?.contains(document.activeElement) === true
    pointing.close()
    if (held && dot !== null) onLeave(dot.id)
  }
  useEscape(dot === null ? null : leave)
  if (dot === null || pointed === null || place.current === null) return null
  return (
    <section
      ref={element}
      class="dot-card"
      data-of={dot.id}
      aria-label={dot.name}
      onPointerEnter={pointing.stay}
      onPointerLeave={pointing.out}
    >
      <header>
        <strong>{dot.name}</strong>
        {pointed.kept ? (
          <Button icon label={pageWords.value.close} onClick={leave}>
            ×
          </Button>
        ) : null}
      </header>
      {children(dot)}
      <Near dots={nearOf(dot, dots, place.current)} onChoose={(id) => pointing.keep(id, pointed.focused)} />
    </section>
  )
}

/** Escape closes the card, also one that is only pointed at. */
function useEscape(leave: (() => void) | null): void {
  const latest = useRef(leave)
  latest.current = leave
  useEffect(() => {
    const close = (event: KeyboardEvent) => {
      if (event.key === 'Escape') latest.current?.()
    }
    addEventListener('keydown', close)
    return () => removeEventListener('keydown', close)
  }, [])
}

/** Whose places lie so near that they cannot be told apart on the map. */
const Near = ({
  dots,
  onChoose,
}: {
  readonly dots: readonly Dot[]
  readonly onChoose: (id: string) => void
}) =>
  dots.length === 0 ? null : (
    <p class="small near">
      <span class="quiet">{words.value.now.alsoHere}</span>
      {dots.slice(0, MOST_NEAR).map(({ id, name }) => (
        <button key={id} type="button" class="name-button inline" onClick={() => onChoose(id)}>
          {name}
        </button>
      ))}
      {dots.length > MOST_NEAR ? <span class="quiet">+{dots.length - MOST_NEAR}</span> : null}
    </p>
  )
