/** A panel with a list that the service returns in pages. */
import { figure } from '#shared/locales/units.ts'
import { useSignal } from '@preact/signals'
import type { ComponentChild, ComponentChildren } from 'preact'
import { useRef } from 'preact/hooks'
import type { Answer, Data } from '#shared/client/index.ts'
import { Button } from '../../design/button.tsx'
import { type Resource, useResource } from '../resource.ts'
import { words } from '../words.ts'
import { type FromProps, PanelFrom } from './panel.tsx'

interface Paged {
  readonly items: readonly unknown[]
  readonly next_cursor: string | null
}

interface Step {
  readonly cursor: string
  readonly before: number
}

interface PagedListProps<T extends Paged, Q extends object> extends Omit<
  FromProps<T>,
  'from' | 'meanwhile' | 'meanwhileAt' | 'children' | 'kind'
> {
  /** Identifies the panel in its view, and its cached answer. A single word. */
  readonly kind: string
  /** Content and order of the list. A changed query starts at its first page. */
  readonly query: Q
  readonly read: (
    query: Q & { readonly cursor?: string },
    options: { readonly signal: AbortSignal },
  ) => Promise<Answer<T>>
  /** Time between readings; 0: once. */
  readonly everyMs: number
  /** Number of items on all pages, if the service reports it. */
  readonly totalOf?: (page: T) => number | null
  readonly children: (page: T, list: Resource<T>) => ComponentChildren
}

const FIRST_PAGE: readonly Step[] = []

/** `1–50 of 80`; empty for no items. Without a total `first 50`, then `51–100` until the last page. */
function rangeOf<T extends Paged>(
  page: T,
  before: number,
  totalOf: PagedListProps<T, object>['totalOf'],
): string {
  const messages = words.value.common
  if (page.items.length === 0) return ''
  const [from, to] = [before + 1, before + page.items.length]
  const totalOfPage = totalOf?.(page) ?? null
  // A total that was counted elsewhere and earlier may be less than the items listed.
  const total =
    page.next_cursor === null
      ? (totalOfPage ?? to)
      : totalOfPage !== null && totalOfPage > to
        ? totalOfPage
        : null
  const range = { from: figure(from), to: figure(to) }
  if (total !== null) return messages.range(range.from, range.to, figure(total))
  return before === 0 ? messages.firstItems(range.to) : `${range.from}–${range.to}`
}

export function PagedList<T extends Paged, Q extends object>(props: PagedListProps<T, Q>) {
  const { kind, query, read, everyMs, totalOf, children, ...panel } = props
  const asked = JSON.stringify(query)
  // Pages visited before this one. Those of another query are ignored.
  const trail = useSignal({ asked, steps: FIRST_PAGE })
  const steps = trail.value.asked === asked ? trail.value.steps : FIRST_PAGE
  const { cursor, before = 0 } = steps.at(-1) ?? {}
  const list = useResource(read, everyMs, kind, { ...query, ...(cursor === undefined ? {} : { cursor }) })
  // Until a page arrives, the previous one stays, so that panel and buttons do not move.
  const shown = useRef<{
    readonly asked: string
    readonly page: T
    readonly before: number
    readonly at: number | null
  } | null>(null)
  const latest = list.value.value
  if (latest !== null) shown.current = { asked, page: latest, before, at: list.at.value }
  // A failed read leaves no rows of another query.
  else if (list.error.value !== null && shown.current?.asked !== asked) shown.current = null
  const page = shown.current?.page ?? null
  const range = shown.current === null || page === null ? '' : rangeOf(page, shown.current.before, totalOf)
  return (
    <PanelFrom
      {...panel}
      kind={kind}
      actions={
        <>
          <span class="small quiet range">{range}</span>
          {panel.actions}
        </>
      }
      from={list}
      meanwhile={page}
      meanwhileAt={shown.current?.at ?? null}
    >
      {(value) => (
        <>
          {children(value, list)}
          <Pages
            page={value}
            range={range}
            steps={steps}
            onPage={(to) => (trail.value = { asked, steps: to })}
          />
        </>
      )}
    </PanelFrom>
  )
}

/** A list of rows, or a sentence if there are none. */
export const Listed = ({ children }: { readonly children: readonly ComponentChild[] }) => (
  <ul class="rows">{children.length === 0 ? <li class="quiet">{words.value.common.none}</li> : children}</ul>
)

type Entry = Data<'readTimeline'>['entries'][number]

interface HappenedProps {
  readonly entry: Entry
  /** The formatted time. */
  readonly at: string
  readonly children?: ComponentChildren
}

/** An entry of the event's history: when, what, and by whom. */
export const Happened = ({ entry: { kind, by, message }, at, children }: HappenedProps) => (
  <li>
    <span class="number small quiet">{at}</span>
    <strong>{words.value.lifecycle.kinds[kind]}</strong>
    {children}
    <span class="grow">{message}</span>
    <span class="small quiet">{by === null ? null : `${words.value.common.by} ${by}`}</span>
  </li>
)

interface PagesProps {
  readonly page: Paged
  readonly range: string
  readonly steps: readonly Step[]
  readonly onPage: (steps: readonly Step[]) => void
}

/** First, previous and next page, if they exist. The last button keeps its position. */
function Pages({ page, range, steps, onPage }: PagesProps) {
  const messages = words.value.common
  const isFirst = steps.length === 0
  const next = page.next_cursor
  if (isFirst && next === null) return null
  const goOn = () => {
    if (next !== null)
      onPage([...steps, { cursor: next, before: (steps.at(-1)?.before ?? 0) + page.items.length }])
  }
  return (
    <p class="row pages">
      <span class="small quiet">{range}</span>
      <span class="spring" />
      {steps.length > 1 ? <Button onClick={() => onPage(FIRST_PAGE)}>{messages.first}</Button> : null}
      {isFirst ? null : <Button onClick={() => onPage(steps.slice(0, -1))}>{messages.previous}</Button>}
      {next === null ? null : <Button onClick={goOn}>{messages.next}</Button>}
    </p>
  )
}
