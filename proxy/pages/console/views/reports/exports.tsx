/** The menu of all files of the report. Each panel offers its own while it has something to save, as CSV; the whole report is printed. */
import { signal } from '@preact/signals'
import { useEffect, useId, useRef } from 'preact/hooks'
import { Button } from '../../../design/button.tsx'
import { words } from '../../words.ts'
import { REPORT_PANELS, type ReportPanelName } from './panels.ts'

interface Offer {
  readonly panel: ReportPanelName
  readonly title: string
  readonly latest: { readonly current: (() => unknown) | null }
}

const offers = signal<readonly Offer[]>([])

/**
 * @param save as CSV; null: there is nothing to save yet
 * @param title of the file, if the panel's name is not clear enough
 */
export function useExports(
  panel: ReportPanelName,
  save: (() => unknown) | null,
  title: string = words.value.reports.panels[panel],
): void {
  const latest = useRef(save)
  latest.current = save
  const hasFile = save !== null
  useEffect(() => {
    if (!hasFile) return undefined
    const offer = { panel, title, latest }
    offers.value = [...offers.peek(), offer]
    return () => {
      offers.value = offers.peek().filter((other) => other !== offer)
    }
  }, [panel, title, hasFile])
}

/** The offers in the order of the panels, not in the order of their registration. */
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
            <Button label={`${title} CSV`} {...closing} onClick={() => latest.current?.()}>
              CSV
            </Button>
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
