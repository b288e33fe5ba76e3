/** The menu of all files of the report. Each panel offers its own while it has something to save. */
import { signal } from '@preact/signals'
import { useEffect, useId, useRef } from 'preact/hooks'
import { Button } from '../../../design/button.tsx'
import { words } from '../../words.ts'
import { REPORT_PANELS, type ReportPanelName } from './panels.ts'

type Saves = Readonly<Partial<Record<'CSV' | 'PNG', () => unknown>>>

interface Offer {
  readonly panel: ReportPanelName
  readonly title: string
  readonly latest: { readonly current: Saves | null }
}

const offers = signal<readonly Offer[]>([])

/**
 * @param saves null: there is nothing to save yet
 * @param title of the files, where the panel's name does not tell
 */
export function useExports(
  panel: ReportPanelName,
  saves: Saves | null,
  title: string = words.value.reports.panels[panel],
): void {
  const latest = useRef(saves)
  latest.current = saves
  const hasFiles = saves !== null
  useEffect(() => {
    if (!hasFiles) return undefined
    const offer = { panel, title, latest }
    offers.value = [...offers.peek(), offer]
    return () => {
      offers.value = offers.peek().filter((other) => other !== offer)
    }
  }, [panel, title, hasFiles])
}

/** Offers in the order of the panels, whichever has come first. */
const inOrder = (): readonly Offer[] =>
  Object.keys(REPORT_PANELS).flatMap((name) => offers.value.filter(({ panel }) => panel === name))

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
