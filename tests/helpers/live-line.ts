/** A line that is redrawn on a terminal; elsewhere it is printed periodically. */

/** The parts of a stream that are used. */
export interface Output {
  write(text: string): unknown
  readonly isTTY?: boolean
  readonly columns?: number
}

export interface LiveLine {
  /** Shows the current state. */
  show(text: string): void
  /** Prints a permanent line. */
  note(text: string): void
  clear(): void
}

const CLEAR_LINE = '\r\u001b[2K'
/** Interval where the line cannot be redrawn. */
const PRINT_EVERY_MS = 10_000

export function createLiveLine(output: Output): LiveLine {
  let shown = ''
  let printedMs = -Infinity
  const draw = (text: string): void => {
    // A wrapped line cannot be redrawn.
    if (output.isTTY) output.write(CLEAR_LINE + text.slice(0, (output.columns || 80) - 1))
  }
  return {
    show(text) {
      shown = text
      if (output.isTTY) draw(text)
      else if (performance.now() - printedMs >= PRINT_EVERY_MS) {
        printedMs = performance.now()
        output.write(`${text}\n`)
      }
    },
    note(text) {
      draw('')
      output.write(`${text}\n`)
      draw(shown)
    },
    clear() {
      draw('')
      shown = ''
    },
  }
}
