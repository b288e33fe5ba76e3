/** What stands over the pictures of a map: single places, and a way. They are placed whenever the map was painted. */
import { words } from '../words.ts'

/** A place on the map: a pilgrim, or a point of a way. */
export interface Dot {
  readonly id: string
  readonly lat: number
  readonly lng: number
  readonly name: string
  /** A point of a way: what it is to the sum. Absent for a pilgrim. */
  readonly kind?: 'counted' | 'left-out' | 'checkin'
}

/** Longitude and latitude of each position, from the beginning. */
export type Way = readonly (readonly [lng: number, lat: number])[]

export type Place = (lng: number, lat: number) => { x: number; y: number }

interface Props {
  readonly dots: readonly Dot[]
  readonly way: Way
  readonly chosen: string | null
  readonly onDot?: ((id: string) => void) | undefined
}

export const OverMap = ({ dots, way, chosen, onDot }: Props) => (
  <>
    {way.length < 2 ? null : (
      <svg class="map-way" aria-hidden="true">
        <path class="halo" />
        <path class="line" />
        <circle class="begin" r="6" />
        <circle class="end" r="7" />
      </svg>
    )}
    {dots.map(({ id, lat, lng, name, kind }) => (
      <button
        key={id}
        type="button"
        class={kind === undefined ? 'person-dot' : `point-dot ${kind}`}
        data-lng={lng}
        data-lat={lat}
        title={name}
        aria-pressed={kind === undefined ? undefined : id === chosen}
        // A hundred points would be a hundred stops of the keyboard; their table chooses them, too.
        tabIndex={kind === undefined ? 0 : -1}
        onClick={() => onDot?.(id)}
      >
        <span>{name}</span>
      </button>
    ))}
  </>
)

/** Places dots and way where the map shows them. */
export function placeOver(frame: HTMLElement, place: Place, way: Way): void {
  for (const dot of frame.querySelectorAll<HTMLElement>('[data-lng]')) {
    const { x, y } = place(Number(dot.dataset['lng']), Number(dot.dataset['lat']))
    dot.style.transform = `translate(${x}px, ${y}px)`
  }
  const drawn = frame.querySelector('.map-way')
  if (drawn === null || way.length < 2) return
  const places = way.map(([lng, lat]) => place(lng, lat))
  const line = `M${places.map(({ x, y }) => `${x.toFixed(1)} ${y.toFixed(1)}`).join('L')}`
  for (const path of drawn.querySelectorAll('path')) path.setAttribute('d', line)
  for (const [name, at] of [
    ['begin', places[0]!],
    ['end', places.at(-1)!],
  ] as const) {
    const circle = drawn.querySelector(`.${name}`)!
    circle.setAttribute('cx', at.x.toFixed(1))
    circle.setAttribute('cy', at.y.toFixed(1))
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
