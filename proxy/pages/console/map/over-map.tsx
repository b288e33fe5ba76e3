/** Single places over the pictures of a map. They are placed whenever the map was painted. */
import type { Placing } from '../../map/mark-names.ts'
import { words } from '../words.ts'
import { type Signal, useSignal } from '@preact/signals'
import { useEffect, useMemo, useRef } from 'preact/hooks'

/** A place on the map: a pilgrim, or a point of a way. */
export interface Dot {
  readonly id: string
  readonly lat: number
  readonly lng: number
  readonly name: string
  /** A point of a way: what it is to the sum. Absent for a pilgrim. */
  readonly kind?: 'counted' | 'left-out' | 'checkin'
  /** Said to screen readers after the name. */
  readonly said?: string
  /** A pilgrim who was not seen for a while. */
  readonly old?: boolean
}

/** Longitude and latitude of each position, from the beginning. */
export type Way = readonly (readonly [lng: number, lat: number])[]

interface Props {
  readonly dots?: readonly Dot[]
  readonly chosen?: string | null
  readonly onDot?: ((id: string) => void) | undefined
  /** Shows cards; absent where places have none. */
  readonly pointing?: Pointing | undefined
}

/** More points than this hide the line between them, so they are drawn smaller. */
const MANY_DOTS = 40

const classOf = ({ kind, old = false }: Dot, small: boolean): string =>
  kind === undefined ? (old ? 'person-dot old' : 'person-dot') : `point-dot ${kind}${small ? ' small' : ''}`

interface SpotProps extends Pick<Props, 'chosen' | 'onDot' | 'pointing'> {
  readonly dot: Dot
  readonly small: boolean
}

/** Taps and clicks come from the map, which has captured the pointer (`dotAt`); from here comes what the keyboard does. */
function Spot({ dot, small, chosen, onDot, pointing }: SpotProps) {
  const { id, lat, lng, name, kind, said } = dot
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
      aria-label={said === undefined ? undefined : `${name}, ${said}`}
      aria-pressed={isPerson ? undefined : id === chosen}
      aria-expanded={pointing === undefined ? undefined : pointing.at.value?.id === id}
      // A hundred points would be a hundred stops of the keyboard; their table chooses them, too.
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

/** Places dots where the map shows them. */
export function placeDots(frame: HTMLElement, place: Placing): void {
  for (const dot of frame.querySelectorAll<HTMLElement>('[data-lng]')) {
    const { x, y } = place(Number(dot.dataset['lng']), Number(dot.dataset['lat']))
    dot.style.transform = `translate(${x}px, ${y}px)`
    // What a point says is a sentence; a name needs less room.
    const share = dot.classList.contains('point-dot') ? 0.5 : 0.8
    dot.classList.toggle('name-left', x > frame.clientWidth * share)
  }
}

/** What the signs of a way mean. */
export const WayLegend = () => {
  const said = words.value.people.legend
  return (
    <ul class="map-legend small">
      {(['begin', 'end', 'checkin', 'counted', 'left-out'] as const).map((sign) => (
        <li key={sign}>
          <span class={`sign ${sign}`} aria-hidden="true" />
          {said[sign]}
        </li>
      ))}
    </ul>
  )
}

// Which single place of the map is pointed at, or was chosen.

/** A pointer that only passes shows nothing; one on its way to the card may leave the place for a moment. */
const SHOW_MS = 150
const HIDE_MS = 300

interface Pointed {
  readonly id: string
  /** It was chosen, and stays until it is closed. */
  readonly kept: boolean
  /** The keyboard chose it, and goes on in the card. */
  readonly focused: boolean
}

export interface Pointing {
  readonly at: Signal<Pointed | null>
  over(id: string): void
  out(): void
  /** The pointer is on the card. */
  stay(): void
  keep(id: string, focused: boolean): void
  close(): void
}

/** Which place has its card. */
export function usePointing(): Pointing {
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
      over: (id) => later(SHOW_MS, { id, kept: false, focused: false }),
      out: () => later(HIDE_MS, null),
      stay: () => clearTimeout(timer.current),
      keep: (id, focused) => set({ id, kept: true, focused }),
      close: () => set(null),
    }
  }, [at])
}
