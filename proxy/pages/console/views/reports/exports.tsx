/** The menu of all files of the report. Each panel offers its own while it has something to save. */
import { signal } from '@preact/signals'
import { useEffect, useId, useRef } from 'preact/hooks'
import { Button } from '../../../design/button.tsx'
import { words } from '../../words.ts'

type Saves = Readonly<Partial<Record<'CSV' | 'PNG', () => unknown>>>

interface Offer {
  readonly title: string
  readonly latest: { readonly current: Saves | null }
}

const offers = signal<readonly Offer[]>([])

/** @param saves null: there is nothing to save yet */
export function useExports(title: string, saves: Saves | null): void {
  const latest = useRef(saves)
  latest.current = saves
  const hasFiles = saves !== null
  useEffect(() => {
    if (!hasFiles) return undefined
    const offer = { title, latest }
    offers.value = [...offers.peek(), offer]
    return () => {
      offers.value = offers.peek().filter((other) => other !== offer)
    }
  }, [title, hasFiles])
}

/** Offers in the order of the panels, whichever has come first; one that is not named here stands at the top. */
function inOrder(): readonly Offer[] {
  const { timeline, procession, carbon, surveys, answersPrivate, answersKey } = words.value.reports
  const titles = [timeline, procession, carbon, surveys, answersPrivate, answersKey]
  return offers.value.toSorted((a, b) => titles.indexOf(a.title) - titles.indexOf(b.title))
}

/** The browser opens and closes it, and gives the focus back. A choice closes it, too. */
export function ExportMenu() {
  const id = useId()
  const closing = { popovertarget: id, popovertargetaction: 'hide' } as const
  return (
    <>
      <Button popovertarget={id}>{words.value.reports.export} ▾</Button>
      <ul id={id} popover="auto" class="export-menu card">
        {inOrder().map(({ title, latest }) => (
          <li key={title} class="row">
            <span class="grow">{title}</span>
            {Object.keys(latest.current ?? {}).map((kind) => (
              <Button
                key={kind}
                label={`${title} ${kind}`}
                {...closing}
                onClick={() => latest.current?.[kind as keyof Saves]?.()}
              >
                {kind}
              </Button>
            ))}
          </li>
        ))}
        <li>
          <Button {...closing} onClick={() => print()}>
            {words.value.common.print}
          </Button>
        </li>
      </ul>
    </>
  )
}
