/** Output of a replay: results on stdout, progress on stderr, redrawn in place on a terminal. */

import { createLiveLine, type Output } from '#tests/helpers/live-line.ts'

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

export function createScreen(out: Output, err: Output): Screen {
  const line = createLiveLine(err)
  let shown = ''
  const countDown = async (ms: number, why: string): Promise<void> => {
    const end = performance.now() + ms
    for (let left = ms; left > 0; left = end - performance.now()) {
      // The number comes first, so that a narrow terminal truncates the reason.
      line.draw(`${Math.ceil(left / 1_000)} s … ${why}`)
      await Bun.sleep(Math.ceil(Math.min(left, 1_000)))
    }
    line.draw(shown)
  }

  return {
    print(text) {
      line.draw('')
      out.write(`${text}\n`)
    },
    note: line.note,
    progress(done, total, text) {
      shown = done === total ? '' : `${bar(done, total)} ${text}`
      if (line.isLive) line.show(shown)
      else line.note(`${done} of ${total} points: ${text}`)
    },
    wait(ms, why) {
      if (!line.isLive) line.note(`${why} Waiting ${Math.ceil(ms / 1_000)} s.`)
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
