import { words } from '../../words.ts'

const SIZE = 100
const RADIANS = Math.PI / 180

/** Web Mercator, in radians; y grows to the south. */
const project = ([lng, lat]: readonly [number, number]): [number, number] => [
  lng * RADIANS,
  -Math.log(Math.tan(Math.PI / 4 + (lat * RADIANS) / 2)),
]

/** The form of a day's way, from its beginning to its end. */
export function Way({ way }: { readonly way: readonly (readonly [number, number])[] }) {
  if (way.length < 2) return null
  const places = way.map(project)
  const [xs, ys] = [places.map(([x]) => x), places.map(([, y]) => y)]
  const [west, north] = [Math.min(...xs), Math.min(...ys)]
  const extent = Math.max(Math.max(...xs) - west, Math.max(...ys) - north) || 1
  const at = ([x, y]: readonly [number, number]): [number, number] => [
    ((x - west) / extent) * SIZE,
    ((y - north) / extent) * SIZE,
  ]
  const shown = places.map(at)
  const [first, last] = [shown[0]!, shown.at(-1)!]
  const width = ((Math.max(...xs) - west) / extent) * SIZE
  const height = ((Math.max(...ys) - north) / extent) * SIZE
  return (
    <svg
      class="way"
      viewBox={`-4 -4 ${width + 8} ${height + 8}`}
      role="img"
      aria-label={words.value.people.way}
    >
      <path d={`M${shown.map(([x, y]) => `${x.toFixed(2)} ${y.toFixed(2)}`).join('L')}`} />
      <circle class="begin" cx={first[0]} cy={first[1]} r="1.8" />
      <circle class="end" cx={last[0]} cy={last[1]} r="2.4" />
    </svg>
  )
}
