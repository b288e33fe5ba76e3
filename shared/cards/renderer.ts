/**
 * Pictures, drawn in a child process: a crash or a hang costs one picture, and memory that native code keeps goes
 * with the process. One picture at a time; the child starts with the first one.
 */
import { join } from 'node:path'
import type { Subprocess } from 'bun'
import { createBoundedQueue } from '#shared/runtime/bounded-queue.ts'
import type { Element } from './element.ts'
import type { Size } from './render.ts'
import type { RenderOrder, RenderReply } from './render-child.ts'
import { LoggableError } from '#shared/runtime/loggable-error.ts'

/** A picture could not be drawn; others are not affected. */
export class RenderFailed extends LoggableError {
  override name = 'RenderFailed'
}

export interface Renderer {
  /**
   * Draws a tree as a PNG.
   * @throws Refusal 503 when too many wait; RenderFailed when this one cannot be drawn
   */
  renderPng(element: Element, size: Size): Promise<Uint8Array<ArrayBuffer>>
  /** The child's process id, if one runs. */
  readonly childPid: number | null
  close(): Promise<void>
}

export interface RendererOptions {
  /** Pictures that may wait for their turn. */
  readonly waiting?: number
  /** A child is replaced after this many pictures, */
  readonly recycleAfter?: number
  /** or when it holds this much memory. */
  readonly recycleBytes?: number
  /** A picture that takes longer is given up, and its child with it. */
  readonly timeoutMs?: number
  /** A child without work ends after this time. */
  readonly idleMs?: number
}

interface Child {
  readonly process: Subprocess
  /** Settles the picture that is being drawn. */
  settle: ((reply: RenderReply) => void) | null
  drawn: number
  ended: boolean
}

/** What stands for the reply of a child that is of no more use. */
const lost = (fault: string): RenderReply => ({ fault, rssBytes: Number.MAX_SAFE_INTEGER })

const CHILD = join(import.meta.dir, 'render-child.ts')

function startChild(): Child {
  const child: Child = {
    settle: null,
    drawn: 0,
    ended: false,
    process: Bun.spawn([process.execPath, CHILD], {
      // What draws people's text needs no secret of the service.
      env: {},
      stdio: ['ignore', 'ignore', 'ignore'],
      serialization: 'advanced',
      ipc: (reply: RenderReply) => child.settle?.(reply),
      onExit(_process, code, signal) {
        child.ended = true
        child.settle?.(lost(`the child ended (${signal ?? code})`))
      },
    }),
  }
  return child
}

/** Waits for a child's reply, but not for ever. */
async function drawWith(child: Child, order: RenderOrder, timeoutMs: number): Promise<RenderReply> {
  const reply = Promise.withResolvers<RenderReply>()
  child.settle = reply.resolve
  const timer = setTimeout(() => reply.resolve(lost(`not drawn within ${timeoutMs} ms`)), timeoutMs)
  try {
    child.process.send(order)
    return await reply.promise
  } finally {
    clearTimeout(timer)
    child.settle = null
  }
}

/** Opens a renderer; nothing runs before the first picture. */
export function openRenderer({
  waiting = 32,
  recycleAfter = 500,
  recycleBytes = 300_000_000,
  timeoutMs = 15_000,
  idleMs = 60_000,
}: RendererOptions = {}): Renderer {
  const queue = createBoundedQueue({ running: 1, waiting })
  let child: Child | null = null
  let idle: Timer | undefined

  const end = async (): Promise<void> => {
    clearTimeout(idle)
    const ending = child
    child = null
    ending?.process.kill('SIGKILL')
    await ending?.process.exited
  }

  const draw = async (order: RenderOrder): Promise<Uint8Array<ArrayBuffer>> => {
    clearTimeout(idle)
    if (child === null || child.ended) child = startChild()
    const worker = child
    const reply = await drawWith(worker, order, timeoutMs)
    worker.drawn++
    if (reply.rssBytes > recycleBytes || worker.drawn >= recycleAfter) await end()
    else idle = setTimeout(() => void end(), idleMs).unref()
    if ('fault' in reply) throw new RenderFailed(`a picture was not drawn: ${reply.fault}`)
    return new Uint8Array(reply.png)
  }

  return {
    renderPng: (element, size) => queue.run(() => draw({ element, ...size })),
    get childPid() {
      return child?.process.pid ?? null
    },
    close: end,
  }
}
