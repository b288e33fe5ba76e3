import type { ComponentChildren } from 'preact'
import { words } from '../words.ts'
import { Stamp } from './panel.tsx'

interface FigureProps {
  readonly label: string
  /** Null: not known. */
  readonly value: ComponentChildren
  readonly unit?: string | undefined
  readonly note?: string | undefined
  readonly tone?: 'good' | 'warning' | 'danger' | undefined
  /** Time of the figure; absent where the panel around it shows it. */
  readonly at?: number | string | null
  readonly stale?: boolean
  /** It is being read for the first time. */
  readonly loading?: boolean
}

/** One figure, with what it means and its time. */
export const Figure = ({ loading = false, ...props }: FigureProps) =>
  loading && props.value === null ? <Awaited label={props.label} /> : <Known {...props} />

/** In the place of a figure that is on its way. */
const Awaited = ({ label }: Pick<FigureProps, 'label'>) => (
  <div class="tile loading">
    <dt>{label}</dt>
    <dd>
      <span class="figure" aria-hidden="true" />
      <span class="stamp">{words.value.common.loading}</span>
    </dd>
  </div>
)

// What is not known is not old either.
const Known = ({ label, value, unit, note, tone, at, stale = false }: Omit<FigureProps, 'loading'>) => (
  <div class={['tile', tone, stale && value !== null && 'stale'].filter(Boolean).join(' ')}>
    <dt>{label}</dt>
    <dd>
      <span class="figure">{value ?? '–'}</span>
      {unit === undefined || value === null ? null : <small> {unit}</small>}
      {note === undefined ? null : <p class="small quiet">{note}</p>}
      {at === undefined ? null : <Stamp at={at} stale={stale && value !== null} />}
    </dd>
  </div>
)

export const Figures = ({ children }: { readonly children: ComponentChildren }) => (
  <dl class="tiles">{children}</dl>
)
