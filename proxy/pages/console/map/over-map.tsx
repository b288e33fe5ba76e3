/** Single places as elements over a map. They are positioned after each paint of the map. */
import { figure } from '#shared/locales/units.ts'
import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import { words } from '../words.ts'
import { Button } from '../../design/button.tsx'
import { CROWD_STEPS, STEP_FROM } from '../../design/marks.tsx'
import { pageWords } from '../../frame/language.ts'
import type { Placing } from '../../map/mark-names.ts'

export interface Dot {
  readonly id: string
  readonly lat: number
  readonly lng: number
  readonly name: string
  /** Role of a point of a way in the sum; absent for a pilgrim. */
  readonly kind?: 'counted' | 'left-out' | 'checkin'
  /** Text for screen readers after the name. */
  readonly note?: string
  /** A pilgrim who was not seen for a while. */
  readonly old?: boolean
}

/** Longitude and latitude of each position, in order of time. */
export type Way = readonly (readonly [lng: number, lat: number])[]

interface Props {
  readonly dots?: readonly Dot[]
  readonly chosen?: string | null
  readonly onDot?: ((id: string) => void) | undefined
  /** Shows cards; absent if the places have none. */
  readonly pointing?: Pointing | undefined
}

/** More points than this would hide the line between them, so they are drawn smaller. */
const MANY_DOTS = 40

const classOf = ({ kind, old = false }: Dot, small: boolean): string =>
  kind === undefined ? (old ? 'person-dot old' : 'person-dot') : `point-dot ${kind}${small ? ' small' : ''}`

interface SpotProps extends Pick<Props, 'chosen' | 'onDot' | 'pointing'> {
  readonly dot: Dot
  readonly small: boolean
}

/**
 * Handles the keyboard only: taps and clicks are handled by the map, which captures the pointer (`dotAt`).
 */
function Spot({ dot, small, chosen, onDot, pointing }: SpotProps) {
  const { id, lat, lng, name, kind, note } = dot
  const isPerson = kind === undefined
  const choose = (event: MouseEvent) => {
    if (event.detail > 0) return
    if (pointing === undefined) onDot?.(id)
    else pointing.keep(id, true)
  }
  return (
    <button
      type="button"
      class={classOf(dot, small)}
      data-id={id}
      data-lng={lng}
      data-lat={lat}
      title={pointing === undefined ? name : undefined}
      aria-label={note === undefined ? undefined : `${name}, ${note}`}
      aria-pressed={isPerson ? undefined : id === chosen}
      aria-expanded={pointing === undefined ? undefined : pointing.at.value?.id === id}
      // A hundred points would be a hundred tab stops; the table can select them too.
      tabIndex={isPerson ? 0 : -1}
      onClick={choose}
      onPointerEnter={() => pointing?.over(id)}
      onPointerLeave={pointing?.out}
      onFocus={() => pointing?.over(id)}
      onBlur={pointing?.out}
    >
      <span>{name}</span>
    </button>
  )
}

export const Dots = ({ dots = [], chosen = null, onDot, pointing }: Props) => (
  <>
    {dots.map((dot) => (
      <Spot
        key={dot.id}
        {...{ dot, chosen, onDot, pointing }}
        small={dots.length > MANY_DOTS && dot.kind === 'counted'}
      />
    ))}
  </>
)

export function placeDots(frame: HTMLElement, place: Placing): void {
  for (const dot of frame.querySelectorAll<HTMLElement>('[data-lng]')) {
    const { x, y } = place(Number(dot.dataset['lng']), Number(dot.dataset['lat']))
    dot.style.transform = `translate(${x}px, ${y}px)`
    // A point's text is a sentence and needs more room than a name.
    const share = dot.classList.contains('point-dot') ? 0.5 : 0.8
    dot.classList.toggle('name-left', x > frame.clientWidth * share)
  }
}

export const WayLegend = () => {
  const messages = words.value.people.legend
  return (
    <ul class="map-legend small">
      {(['begin', 'end', 'checkin', 'counted', 'left-out'] as const).map((sign) => (
        <li key={sign}>
          <span class={`sign ${sign}`} aria-hidden="true" />
          {messages[sign]}
        </li>
      ))}
    </ul>
  )
}

// State of the pointed-at or selected place on the map.

/** Delays that ignore a passing pointer, and allow it to leave the place on its way to the card. */
const SHOW_MS = 150
const HIDE_MS = 300

interface Pointed {
  readonly id: string
  /** It was selected, and stays open until it is closed. */
  readonly kept: boolean
  /** It was selected by keyboard, so the focus moves into the card. */
  readonly focused: boolean
}

export type Pointing = ReturnType<typeof usePointing>

export function usePointing() {
  const at = useSignal<Pointed | null>(null)
  const timer = useRef<number | undefined>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  return useMemo(() => {
    const later = (ms: number, next: Pointed | null) => {
      clearTimeout(timer.current)
      if (at.peek()?.kept !== true) timer.current = window.setTimeout(() => (at.value = next), ms)
    }
    const set = (next: Pointed | null) => {
      clearTimeout(timer.current)
      at.value = next
    }
    return {
      at,
      over: (id: string) => later(SHOW_MS, { id, kept: false, focused: false }),
      out: () => later(HIDE_MS, null),
      /** The pointer is on the card. */
      stay: () => clearTimeout(timer.current),
      keep: (id: string, focused: boolean) => set({ id, kept: true, focused }),
      close: () => set(null),
    }
  }, [at])
}

// Card of a single place on the map: shown while it is pointed at, and kept open when it is selected.

const AWAY_PX = 14
const EDGE_PX = 8
/** Places closer than this on the screen are under the same finger. */
const SAME_PX = 14
const MOST_NEAR = 8

/** Positions a card above its place, or below if there is no room, within the map. */
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

/** The place nearest to a tap; null if none is close enough. */
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

interface CardProps {
  readonly dots: readonly Dot[]
  readonly pointing: Pointing
  readonly place: { readonly current: Placing | null }
  readonly onLeave: (id: string) => void
  readonly children: (dot: Dot) => ComponentChildren
}

export function DotCard({ dots, pointing, place, onLeave, children }: CardProps) {
  const element = useRef<HTMLElement>(null)
  const pointed = pointing.at.value
  const dot = dots.find(({ id }) => id === pointed?.id) ?? null
  const latest = useRef(dot)
  latest.current = dot
  const shown = dot?.id
  // The card's content arrives later and enlarges it.
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
    const hadFocus = element.current?.contains(document.activeElement) === true
    pointing.close()
    if (hadFocus && dot !== null) onLeave(dot.id)
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

/** Escape closes the card, even if it is only hovered. */
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

interface NearProps {
  readonly dots: readonly Dot[]
  readonly onChoose: (id: string) => void
}

const Near = ({ dots, onChoose }: NearProps) =>
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

/** Legend of the cells' colours: the smallest number of pilgrims or points for each. */
export const CrowdLegend = ({ of }: { readonly of: 'pilgrims' | 'points' }) => (
  <ul class="map-legend crowd-legend small">
    <li>{words.value.now.legend[of]}</li>
    {CROWD_STEPS.map((step, i) => (
      <li key={step}>
        <span class={`sign crowd-${step}`} aria-hidden="true" />
        {i === 0 ? `< ${figure(STEP_FROM[1])}` : `≥ ${figure(STEP_FROM[i]!)}`}
      </li>
    ))}
  </ul>
)
