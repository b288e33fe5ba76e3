/** Paper is white: what leaves the page as a picture or in print has the light colours, whatever the screen's theme is. */
import { type ReadonlySignal, signal } from '@preact/signals'
import { type Colour, tokensOf } from '../../map/view.ts'

/** Pixels of a picture for each of its units: sharp in print, and where it is enlarged. */
export const DENSITY = 2

const printed = matchMedia('print')
const printing = signal(printed.matches)

/**
 * Whether the page is being printed, also from the browser's own menu. The browser lays paper out as soon as the
 * listeners have returned and their microtasks are done: who draws for it draws in an `effect`, not in a later frame.
 */
export const isPrinting: ReadonlySignal<boolean> = printing

addEventListener('beforeprint', () => (printing.value = true))
addEventListener('afterprint', () => (printing.value = false))
printed.addEventListener('change', ({ matches }) => (printing.value = matches))

/** An element whose colours are those of paper. */
function newProbe(): HTMLElement {
  const probe = document.createElement('i')
  probe.className = 'on-paper'
  probe.hidden = true
  document.body.append(probe)
  return probe
}

let known: Colour | null = null

/** Tokens by their names without dashes, as they are on paper. */
export const onPaper: Colour = (name) => (known ??= tokensOf(newProbe()))(name)

/** Tokens of the screen's theme. They are read anew by each caller, because the theme may have changed. */
export const onScreen = (): Colour => tokensOf(document.documentElement)
