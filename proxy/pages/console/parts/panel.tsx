/** A panel of a view: its title, the time of its data, and whether they are outdated. */
import type { ClientError } from '#shared/client/index.ts'
import { computed } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useId, useMemo, useRef } from 'preact/hooks'
import { clock, now } from '../clock.ts'
import { isCutOff } from '../live.ts'
import { type Resource, secondsLeft, SHORTEST_STALE_MS } from '../resource.ts'
import { place } from '../router.ts'
import { pair, words } from '../words.ts'
import { Button } from '../../design/button.tsx'

/** Whether data are older than allowed. While the service is unreachable, the limit is 20 s for all. */
export const isStale = <T,>({ at, error, staleMs }: Resource<T>): boolean =>
  at.value !== null &&
  (error.value !== null ||
    now.value - at.value > (isCutOff.value ? Math.min(staleMs, SHORTEST_STALE_MS) : staleMs))

/** Neither an answer nor an error has arrived. */
export const isLoading = <T,>({ value, error }: Resource<T>): boolean =>
  value.value === null && error.value === null

/**
 * Whether the shown data are outdated, for a component that need not be rendered each second.
 * @param isMeanwhile an earlier answer is shown until the new one arrives
 */
export const useStale = <T,>(from: Resource<T>, isMeanwhile = false): boolean =>
  useMemo(() => computed(() => isStale(from)), [from]).value ||
  (isMeanwhile && from.value.value === null && (from.error.value !== null || isCutOff.value))

interface StampProps {
  readonly at: number | string | null
  readonly stale: boolean
}

/** The time of outdated data. Current data need none: the bar at the top shows the time. */
export const Stamp = ({ at, stale }: StampProps) =>
  at === null || !stale ? null : <span class="stamp old">{pair(words.value.common.stale, clock(at))}</span>

/** The sentence about the rate limit, with the seconds left. */
const waitSentence = (): string => words.value.common.rateLimited(secondsLeft.value)

/** The same for an action, which the page does not repeat by itself. */
function waitToAct(): string {
  const { actAgain, actLater } = words.value.common
  return secondsLeft.value === 0 ? actAgain : actLater(secondsLeft.value)
}

/** Advice after an error, in the operator's language, shown after the service's own sentence. */
function adviceOf({ status }: ClientError): string {
  const { advice } = words.value.common
  if (status === 0) return advice.unreached
  if (status === 401 || status === 403) return advice.forbidden
  if (status === 404 || status === 410) return advice.gone
  if (status === 409) return advice.conflict
  return status >= 500 ? advice.unavailable : advice.invalid
}

const whyOf = (error: ClientError): string =>
  error.status === 429 ? waitSentence() : `${error.message} ${adviceOf(error)}`

/** Why data were not read, and what to do. */
export const sentenceOf = (error: ClientError): string =>
  error.status === 429 ? waitSentence() : pair(words.value.common.failed, whyOf(error))

/** Placeholder for a text whose resource has no value: loading, or the error. */
export const absenceOf = <T,>({ error }: Resource<T>): string =>
  error.value === null ? words.value.common.loading : sentenceOf(error.value)

/**
 * Why an action is not known to be done. Without an answer, or with a proxy's error, it may have been done.
 */
export const refusalOf = (error: ClientError): string =>
  error.status === 0 || error.status >= 500
    ? words.value.common.notConfirmed(error.message)
    : pair(words.value.common.notDone, error.status === 429 ? waitToAct() : whyOf(error))

interface PanelProps {
  readonly title: string
  readonly children: ComponentChildren
  readonly actions?: ComponentChildren
  /** Identifies the panel's place in its view. */
  readonly kind?: string
  readonly stamp?: ComponentChildren
  /** Greyed out and marked with the time `at`. */
  readonly stale?: boolean
  readonly at?: StampProps['at']
}

export function Panel({ title, children, actions, kind, stamp, stale = false, at = null }: PanelProps) {
  const heading = useId()
  const section = useRef<HTMLElement>(null)
  const wanted = kind !== undefined && place.value.panel === kind.split(' ')[0] ? place.value : null
  useEffect(() => {
    if (wanted === null) return
    section.current!.scrollIntoView()
    section.current!.focus({ preventScroll: true })
  }, [wanted])
  const classes = ['panel', 'card', kind, stale && 'stale'].filter(Boolean).join(' ')
  return (
    <section ref={section} class={classes} aria-labelledby={heading} tabIndex={-1}>
      <header>
        <h2 id={heading}>{title}</h2>
        {stamp}
        <Stamp at={at} stale={stale} />
        <span class="spring" />
        {actions === undefined ? null : <div class="panel-actions">{actions}</div>}
      </header>
      {children}
    </section>
  )
}

interface AwaitProps<T> {
  readonly from: Resource<T>
  /** Shown until the first answer, for example the previous page. */
  readonly meanwhile?: T | null
  readonly children: (value: T) => ComponentChildren
}

export interface FromProps<T> extends Omit<PanelProps, 'children' | 'stamp' | 'stale' | 'at'>, AwaitProps<T> {
  /** Shown above the value, and kept while another one is read. */
  readonly lead?: ComponentChildren
  /** Time of `meanwhile`, epoch milliseconds. */
  readonly meanwhileAt?: number | null
}

/** A panel of one resource: loading, failed, or its value with its time. */
export function PanelFrom<T>(props: FromProps<T>) {
  const { from, lead, meanwhile = null, meanwhileAt = null, actions, children, ...panel } = props
  const stale = useStale(from, shownOf(from, meanwhile) !== null)
  const withAgain = (
    <>
      <Button onClick={() => void from.reload()}>{words.value.common.refresh}</Button>
      {actions}
    </>
  )
  return (
    <Panel
      {...panel}
      actions={stale && from.isOnce ? withAgain : actions}
      stale={stale}
      at={from.at.value ?? meanwhileAt}
    >
      {lead}
      <Await from={from} meanwhile={meanwhile}>
        {children}
      </Await>
    </Panel>
  )
}

function shownOf<T>({ value, error }: Resource<T>, meanwhile: T | null): T | null {
  const isWait = error.value === null || error.value.status === 429
  return value.value ?? (isWait ? meanwhile : null)
}

/**
 * Renders a resource in one state: its value, its error, or loading. An error is shown above the last value;
 * the rate limit is shown by the bar across the page.
 */
export function Await<T>({ from, meanwhile = null, children }: AwaitProps<T>) {
  const error = from.error.value
  const value = shownOf(from, meanwhile)
  if (value === null)
    return error === null ? (
      <p class="quiet">{words.value.common.loading}</p>
    ) : (
      <Refusal error={error} onAgain={() => void from.reload()} />
    )
  return (
    <>
      {error === null || error.status === 429 ? null : (
        <Refusal error={error} onAgain={() => void from.reload()} />
      )}
      {children(value)}
    </>
  )
}

interface RefusalProps {
  readonly error: ClientError
  readonly onAgain: () => void
}

/** The reason for a missing value. The rate limit needs no button: the page continues by itself. */
const Refusal = ({ error, onAgain }: RefusalProps) =>
  error.status === 429 ? (
    <p class="quiet waits">{waitSentence()}</p>
  ) : (
    <output class="notice warning">
      <span>{sentenceOf(error)}</span>
      <Button onClick={onAgain}>{words.value.common.again}</Button>
    </output>
  )

interface FigureProps {
  readonly label: string
  /** Null: unknown. */
  readonly value: ComponentChildren
  readonly unit?: string | undefined
  readonly note?: string | undefined
  readonly tone?: 'good' | 'warning' | 'danger' | undefined
  /** Time of the figure; absent if the surrounding panel shows it. */
  readonly at?: number | string | null
  readonly stale?: boolean
  readonly loading?: boolean
}

export const Figure = ({ loading = false, ...props }: FigureProps) =>
  loading && props.value === null ? <Awaited label={props.label} /> : <Known {...props} />

const Awaited = ({ label }: Pick<FigureProps, 'label'>) => (
  <div class="tile loading">
    <dt>{label}</dt>
    <dd>
      <span class="figure" aria-hidden="true" />
      <span class="stamp">{words.value.common.loading}</span>
    </dd>
  </div>
)

// An unknown value is not outdated.
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

/** Pairs of name and value; null values are omitted. */
export const Facts = ({ facts, of = 'about' }: FactsProps) => (
  <dl class={of}>
    {facts.map(([name, value]) =>
      value === null ? null : (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ),
    )}
  </dl>
)

interface FactsProps {
  readonly facts: readonly (readonly [name: string, value: ComponentChildren])[]
  readonly of?: string
}

export const Figures = ({ children }: { readonly children: ComponentChildren }) => (
  <dl class="tiles">{children}</dl>
)
