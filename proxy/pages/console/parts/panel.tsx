/** A part of a view: its title, the time of what it shows, and whether that is old. */
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

/** Whether it is older than its promise; while nothing comes from the service, nothing has a longer one than 20 s. */
export const isStale = <T,>({ at, error, staleMs }: Resource<T>): boolean =>
  at.value !== null &&
  (error.value !== null ||
    now.value - at.value > (isCutOff.value ? Math.min(staleMs, SHORTEST_STALE_MS) : staleMs))

/** Nothing has come yet, and nothing was refused. */
export const isLoading = <T,>({ value, error }: Resource<T>): boolean =>
  value.value === null && error.value === null

/**
 * Whether what is shown of it is old, for a component that need not be drawn again each second.
 * @param isMeanwhile an earlier answer stands in the place of the one that has not come
 */
export const useStale = <T,>(from: Resource<T>, isMeanwhile = false): boolean =>
  useMemo(() => computed(() => isStale(from)), [from]).value ||
  (isMeanwhile && from.value.value === null && (from.error.value !== null || isCutOff.value))

interface StampProps {
  readonly at: number | string | null
  readonly stale: boolean
}

/** The time of what is old; what is fresh is of now, which the bar at the top tells. */
export const Stamp = ({ at, stale }: StampProps) =>
  at === null || !stale ? null : <span class="stamp old">{pair(words.value.common.stale, clock(at))}</span>

/** The sentence about the limit of calls, with the seconds that are left now. */
const waitSentence = (): string => words.value.common.rateLimited(secondsLeft.value)

/** The same of an action, which the page does not repeat by itself. */
function waitToAct(): string {
  const { actAgain, actLater } = words.value.common
  return secondsLeft.value === 0 ? actAgain : actLater(secondsLeft.value)
}

/** What the operator can do about a refusal, in their language; the service's own sentence stands before it. */
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

/** Why something is not read, and what to do. */
export const sentenceOf = (error: ClientError): string =>
  error.status === 429 ? waitSentence() : pair(words.value.common.failed, whyOf(error))

/** What stands in the place of a text whose resource has no value: that it loads, or why there is none. */
export const absenceOf = <T,>({ error }: Resource<T>): string =>
  error.value === null ? words.value.common.loading : sentenceOf(error.value)

/** Why an action is not known to be done. Without an answer, or with a proxy's, it may be done all the same. */
export const refusalOf = (error: ClientError): string =>
  error.status === 0 || error.status >= 500
    ? words.value.common.notConfirmed(error.message)
    : pair(words.value.common.notDone, error.status === 429 ? waitToAct() : whyOf(error))

interface PanelProps {
  readonly title: string
  readonly children: ComponentChildren
  readonly actions?: ComponentChildren
  /** For the place of the panel in its view. */
  readonly kind?: string
  readonly stamp?: ComponentChildren
  /** It is grey, and says of when it is: `at`. */
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
  /** Shown until the first answer, such as the page before. */
  readonly meanwhile?: T | null
  readonly children: (value: T) => ComponentChildren
}

export interface FromProps<T> extends Omit<PanelProps, 'children' | 'stamp' | 'stale' | 'at'>, AwaitProps<T> {
  /** Stands above the value, and stays while another one is read. */
  readonly lead?: ComponentChildren
  /** When `meanwhile` was read, epoch milliseconds. */
  readonly meanwhileAt?: number | null
}

/** A panel of one resource: while it loads, when it fails, and its value with its time. */
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
 * What a resource has, in one state at a time: its value, else why there is none, else that it loads. A refusal
 * stands above the last value; of the limit of calls the bar across the page says it.
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

/** Why there is no value. The limit of calls needs no button: the page goes on by itself. */
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
  /** Null: not known. */
  readonly value: ComponentChildren
  readonly unit?: string | undefined
  readonly note?: string | undefined
  readonly tone?: 'good' | 'warning' | 'danger' | undefined
  /** Time of the figure; absent where the panel around it shows it. */
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

/** Names with what is said of each; what is null is left out. */
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
