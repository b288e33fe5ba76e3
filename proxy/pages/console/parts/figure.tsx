import type { ComponentChildren } from 'preact'
import { Stamp } from './panel.tsx'

export interface FigureProps {
  readonly label: string
  /** Null: not known. */
  readonly value: ComponentChildren
  readonly unit?: string | undefined
  readonly note?: string | undefined
  readonly tone?: 'good' | 'warning' | 'danger' | undefined
  /** Time of the figure; absent where the panel around it shows it. */
  readonly at?: number | string | null
  readonly stale?: boolean
}

/** One figure, with what it means and its time. */
export const Figure = ({ label, value, unit, note, tone, at, stale = false }: FigureProps) => (
  <div class={['tile', tone, stale && 'stale'].filter(Boolean).join(' ')}>
    <dt>{label}</dt>
    <dd>
      <span class="figure">{value ?? '–'}</span>
      {unit === undefined || value === null ? null : <small> {unit}</small>}
      {note === undefined ? null : <p class="small quiet">{note}</p>}
      {at === undefined ? null : <Stamp at={at} stale={stale} short />}
    </dd>
  </div>
)

export const Figures = ({ children }: { readonly children: ComponentChildren }) => (
  <dl class="tiles">{children}</dl>
)
