/** The key of the map of the own way: what each line and each dot is. Only what this day has is named. */
import type { WalkWords } from '#shared/locales/words.ts'
import { otherDays, route, shownDay } from '../way/own-way.ts'
import { wayShapes } from '../way/way-shapes.ts'

type Entry = keyof WalkWords['way']['keys']

function shownEntries(): Entry[] {
  const day = shownDay.value?.way ?? null
  const shapes = day === null ? null : wayShapes(day)
  const has: Readonly<Record<Entry, boolean>> = {
    foot: (shapes?.onFoot.length ?? 0) > 0,
    motor: (shapes?.byMotor.length ?? 0) > 0,
    gap: (shapes?.gaps.length ?? 0) > 0,
    others: otherDays.value.length > 0,
    first: (shapes?.first ?? null) !== null,
    last: (shapes?.last ?? null) !== null,
    checkIn: (shapes?.checkIns.length ?? 0) > 0,
    route: (route.value?.lines.length ?? 0) > 0,
    station: (route.value?.stations.length ?? 0) > 0,
  }
  return (Object.keys(has) as Entry[]).filter((entry) => has[entry])
}

const LINES: ReadonlySet<Entry> = new Set(['route', 'foot', 'motor', 'gap', 'others'])

/** A piece of the line, or the dot, in the colours of the map. */
const Sample = ({ of }: { readonly of: Entry }) => (
  <svg class={`key-sample key-${of}`} viewBox="0 0 36 16" aria-hidden="true">
    {LINES.has(of) ? (
      <>
        <path class="key-halo" d="M3 8h30" />
        <path d="M3 8h30" />
      </>
    ) : (
      <circle cx="18" cy="8" r={of === 'last' ? 6.5 : of === 'station' ? 4 : 5} />
    )}
  </svg>
)

export function MapKey({ words: { way } }: { readonly words: WalkWords }) {
  const entries = shownEntries()
  if (entries.length === 0) return null
  return (
    <ul class="map-key" aria-label={way.key}>
      {entries.map((entry) => (
        <li key={entry}>
          <Sample of={entry} />
          {way.keys[entry]}
        </li>
      ))}
    </ul>
  )
}
