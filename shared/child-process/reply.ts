/** The other end of a child process: does what it is sent, one order at a time, until its parent is gone. */

import { describeError } from '#shared/runtime/loggable-error.ts'

/** @property rssBytes memory of the child: what the native parts hold, no garbage collector sees */
export type Reply<Result> = { readonly rssBytes: number } & (
  | { readonly result: Result }
  | { readonly fault: string }
)

/**
 * Answers each order of the parent with what `work` makes of it; what it throws is told as a fault.
 * @param work its orders are those of the `openChild` that names this program
 */
export function replyWith(work: (order: never) => Promise<unknown>): void {
  const reply = async (order: never): Promise<Reply<unknown>> => {
    try {
      return { result: await work(order), rssBytes: process.memoryUsage.rss() }
    } catch (error) {
      return { fault: describeError(error), rssBytes: process.memoryUsage.rss() }
    }
  }
  process.on('message', (order) => {
    void reply(order as never).then((answer) => process.send?.(answer))
  })
  process.on('disconnect', () => process.exit(0))
  // The parent decides when it ends: a Ctrl-C goes to the whole group.
  process.on('SIGINT', () => undefined)
}
