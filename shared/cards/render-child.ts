/** The renderer's child process: draws what it is sent, one picture at a time, until its parent is gone. */
import type { Element } from './element.ts'
import { render, type Size } from './render.ts'
import { describeError } from '#shared/runtime/loggable-error.ts'

export interface RenderOrder extends Size {
  readonly element: Element
}

/** @property rssBytes memory of the child: what the native parts hold, no garbage collector sees */
export type RenderReply = { readonly rssBytes: number } & (
  | { readonly png: Uint8Array }
  | { readonly fault: string }
)

async function reply({ element, ...size }: RenderOrder): Promise<RenderReply> {
  try {
    return { png: await render(element, size), rssBytes: process.memoryUsage.rss() }
  } catch (error) {
    return {
      fault: describeError(error),
      rssBytes: process.memoryUsage.rss(),
    }
  }
}

process.on('message', (order) => {
  void reply(order as RenderOrder).then((answer) => process.send?.(answer))
})
process.on('disconnect', () => process.exit(0))
// The parent decides when it ends: a Ctrl-C goes to the whole group.
process.on('SIGINT', () => undefined)
