/** Output of a replay: results on stdout, progress on stderr, redrawn in place on a terminal. */

/** The parts of a stream that are used. */
export interface Output {
  write(text: string): unknown
  readonly isTTY?: boolean
  readonly columns?: number
}

export interface Screen {
  /** Prints a line of the result. */
  print(line: string): void
  /** Prints a permanent line of the progress. */
  note(line: string): void
  /** Shows the number of sent points: a progress bar on a terminal, otherwise a line each time. */
  progress(done: number, total: number, line: string): void
  /** Waits and shows the reason: with a countdown on a terminal, otherwise in one line. */
  wait(ms: number, why: string): Promise<void>
  /** Waits as planned: with a countdown beside the progress on a terminal, otherwise silently. */
  pause(ms: number): Promise<void>
}

const CLEAR_LINE = '\r\u001b[2K'

export function createScreen(out: Output, err: Output): Screen {
  const live = err.isTTY === true
  let shown = ''

  const draw = (line: string): void => {
    // A wrapped line cannot be redrawn.
    if (live) err.write(CLEAR_LINE + line.slice(0, (err.columns || 80) - 1))
  }
  const note = (line: string): void => {
    draw('')
    err.write(`${line}\n`)
    draw(shown)
  }
  const countDown = async (ms: number, why: string): Promise<void> => {
    const end = performance.now() + ms
    for (let left = ms; left > 0; left = end - performance.now()) {
      // The number comes first, so that a narrow terminal truncates the reason.
      draw(`${Math.ceil(left / 1_000)} s … ${why}`)
      await Bun.sleep(Math.ceil(Math.min(left, 1_000)))
    }
    draw(shown)
  }

  return {
    print(line) {
      draw('')
      out.write(`${line}\n`)
    },
    note,
    progress(done, total, line) {
      shown = done === total ? '' : `${bar(done, total)} ${line}`
      if (live) draw(shown)
      else note(`${done} of ${total} points: ${line}`)
    },
    wait(ms, why) {
      if (!live) note(`${why} Waiting ${Math.ceil(ms / 1_000)} s.`)
      return countDown(ms, why)
    },
    pause: (ms) => countDown(ms, shown),
  }
}

/** `[██████░░░░]  60 %` */
export function bar(done: number, total: number, width = 24): string {
  const filled = Math.floor((done / total) * width)
  const percent = String(Math.floor((done / total) * 100)).padStart(3)
  return `[${'█'.repeat(filled)}${'░'.repeat(width - filled)}] ${percent} %`
}
