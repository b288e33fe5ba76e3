/** Level, kilometres and check-ins, as last known. */
import { words } from '../words.ts'
import { figure } from '#shared/locales/units.ts'
import { unitText } from '../format.ts'
import { levelName, profile } from '../session/service.ts'
import { Emblem } from '../../design/emblem.tsx'

export function Level(props: {
  /** Check-ins, including pending ones. */
  readonly checkIns: number
}) {
  const { checkIns } = props
  const { level = 1, km = 0 } = profile.value ?? {}
  return (
    <div class="row level">
      <Emblem level={level} />
      <p class="grow">
        <strong>{levelName(level)}</strong>
        <br />
        <span class="quiet">{words.value.way.level(level)}</span>
      </p>
      <p class="figures">
        <span>
          {words.value.checkIn.allKm} <strong data-figure="km">{figure(km)}</strong> {unitText('km')}
        </span>
        <br />
        <span data-figure="checkins">{words.value.checkIn.total(checkIns)}</span>
      </p>
    </div>
  )
}
