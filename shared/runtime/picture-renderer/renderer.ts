/** Renders pictures in a child process, one at a time. */
import { join } from 'node:path'
import { type ChildOptions, openChild } from '#shared/runtime/child-process.ts'
import { Refusal } from '#shared/runtime/refusal.ts'
import { describeError, LoggableError } from '../log.ts'
import type { Element } from './element.ts'
import type { Size } from './render.ts'
import type { RenderOrder } from './render-child.ts'

/** A picture could not be rendered; other pictures are not affected. */
export class RenderFailed extends LoggableError {
  override name = 'RenderFailed'
}

export type RendererOptions = Partial<Omit<ChildOptions, 'program'>>

const CHILD: ChildOptions = {
  program: join(import.meta.dir, 'render-child.ts'),
  waiting: 32,
  recycleAfter: 500,
  recycleBytes: 300_000_000,
  timeoutMs: 15_000,
  idleMs: 60_000,
}

/** Creates a renderer; the child process starts with the first picture. */
export function openRenderer(options: RendererOptions = {}) {
  const child = openChild<RenderOrder, Uint8Array>({ ...CHILD, ...options })
  return {
    /**
     * Renders a tree as PNG.
     * @throws Refusal 503 if the queue is full; RenderFailed if this picture cannot be rendered
     */
    async renderPng(element: Element, size: Size): Promise<Uint8Array<ArrayBuffer>> {
      try {
        return new Uint8Array(await child.run({ element, ...size }))
      } catch (error) {
        if (error instanceof Refusal) throw error
        // A tree that cannot be sent to the child fails alone, and does not stop the run that draws all cards.
        throw new RenderFailed(`a picture was not drawn: ${describeError(error)}`, { cause: error })
      }
    },
    /** The child's process id; null if none runs. */
    get childPid() {
      return child.pid
    },
    close: () => child.close(),
  }
}

export type Renderer = ReturnType<typeof openRenderer>
