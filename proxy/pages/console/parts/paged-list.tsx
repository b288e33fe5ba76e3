/** A panel of a list that the service cuts into pages. */
import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useRef } from 'preact/hooks'
import type { Answer } from '#shared/client/index.ts'
import { Button } from '../../design/button.tsx'
import { type Resource, useResource } from '../resource.ts'
import { fill, words } from '../words.ts'
import { type FromProps, PanelFrom } from './panel.tsx'

interface Paged {
  readonly next_cursor: string | null
}

export interface PagedListProps<T extends Paged, Q extends object> extends Omit<
  FromProps<T>,
  'from' | 'meanwhile' | 'children'
> {
  /** What is listed and how. Another query begins at its first page. */
  readonly query: Q
  readonly read: (
    query: Q & { readonly cursor?: string },
    options: { readonly signal: AbortSignal },
  ) => Promise<Answer<T>>
  /** Time between readings; 0: once. */
  readonly everyMs: number
  readonly children: (page: T, list: Resource<T>) => ComponentChildren
}

const NOWHERE: readonly string[] = []

export function PagedList<T extends Paged, Q extends object>(props: PagedListProps<T, Q>) {
  const { query, read, everyMs, children, ...panel } = props
  const asked = JSON.stringify(query)
  // The cursors of the pages that led here. Those of another query do not count.
  const trail = useSignal({ asked, cursors: NOWHERE })
  const cursors = trail.value.asked === asked ? trail.value.cursors : NOWHERE
  const cursor = cursors.at(-1)
  const list = useResource(
    (signal) => read({ ...query, ...(cursor === undefined ? {} : { cursor }) }, { signal }),
    everyMs,
    `${panel.kind ?? panel.title} ${asked} ${cursor}`,
  )
  // Until a page has come, the one before stays: the panel keeps its height, and the buttons their place.
  const shown = useRef<T | null>(null)
  shown.current = list.value.value ?? shown.current
  return (
    <PanelFrom {...panel} from={list} meanwhile={shown.current}>
      {(page) => (
        <>
          {children(page, list)}
          <Pages
            next={page.next_cursor}
            before={cursors}
            onPage={(to) => (trail.value = { asked, cursors: to })}
          />
        </>
      )}
    </PanelFrom>
  )
}

interface PagesProps {
  readonly next: string | null
  readonly before: readonly string[]
  readonly onPage: (cursors: readonly string[]) => void
}

/** First, previous and next page; nothing for a list of one page. */
function Pages({ next, before, onPage }: PagesProps) {
  const said = words.value.common
  const isFirst = before.length === 0
  if (isFirst && next === null) return null
  return (
    <p class="row pages">
      <Button disabled={isFirst} onClick={() => onPage(NOWHERE)}>
        {said.first}
      </Button>
      <Button disabled={isFirst} onClick={() => onPage(before.slice(0, -1))}>
        {said.previous}
      </Button>
      <Button disabled={next === null} onClick={() => next !== null && onPage([...before, next])}>
        {said.next}
      </Button>
      <span class="small quiet">{fill(said.page, { page: before.length + 1 })}</span>
    </p>
  )
}
