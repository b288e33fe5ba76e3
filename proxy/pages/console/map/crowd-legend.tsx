import { figure } from '#shared/locales/units.ts'
import { CROWD_STEPS, STEP_FROM } from '../../design/marks.tsx'
import { words } from '../words.ts'

/** What the colours of the cells mean: from how many pilgrims or points on a square kilometre each begins. */
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
