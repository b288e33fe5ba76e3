/** The child's side of a child process: executes orders one at a time until its parent ends. */

import { describeError } from './log.ts'

/** @property rssBytes resident memory of the child, including native memory that the garbage collector does not see */
export type Reply<Result> = { readonly rssBytes: number } & (
  | { readonly result: Result }
  | { readonly fault: string }
)

/**
 * Replies to each order of the parent with the result of `work`, or with its error as `fault`.
 * @param work receives the orders of the `openChild` call that names this program
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
  // Only the parent ends the child: Ctrl-C signals the whole process group.
  process.on('SIGINT', () => undefined)
}
