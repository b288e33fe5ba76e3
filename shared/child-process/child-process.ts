/**
 * Native code on what strangers send, run in a child process: a crash, a hang or a hunger costs one order, and
 * memory that native code keeps goes with the process. One order at a time; the child starts with the first one.
 */
import type { Subprocess } from 'bun'
import { createBoundedQueue } from '#shared/runtime/bounded-queue.ts'
import { unavailable } from '#shared/http/errors.ts'
import { LoggableError } from '#shared/runtime/loggable-error.ts'
import type { Reply } from './reply.ts'

/** An order was not carried out; others are not affected. */
export class ChildFailed extends LoggableError {
  override name = 'ChildFailed'
  /** @param isLate whether only time ran out: the machine may be busy, and the order a good one */
  constructor(
    message: string,
    readonly isLate: boolean,
  ) {
    super(message)
  }
}

export interface Child<Order, Result> {
  /** @throws Refusal 503 when too many wait or it is closed; ChildFailed when this order cannot be carried out */
  run(order: Order): Promise<Result>
  /** The process id, if one runs. */
  readonly pid: number | null
  close(): Promise<void>
}

export interface ChildOptions {
  /** Path of the child's program, which calls `replyWith`. */
  readonly program: string
  /** Orders that may wait for their turn. */
  readonly waiting: number
  /** A child is replaced after this many orders, */
  readonly recycleAfter: number
  /** or when it holds this much memory. */
  readonly recycleBytes: number
  /** An order that takes longer is given up, and its child with it. */
  readonly timeoutMs: number
  /** A child without work ends after this time. */
  readonly idleMs: number
  /** What the kernel grants a child in its whole life; it kills one that wants more processor time. */
  readonly limits?: { readonly cpuSeconds: number; readonly memoryBytes: number }
}

interface Running<Result> {
  readonly process: Subprocess
  /** Settles the order that is carried out. */
  settle: ((reply: Reply<Result>) => void) | null
  done: number
  ended: boolean
}

/** What stands for the reply of a child that is of no more use. */
const lost = (fault: string) => ({ fault, rssBytes: Number.MAX_SAFE_INTEGER })
const late = lost('no reply in time')

/** Only a shell sets limits everywhere; it becomes the child. Where a system knows no limit of memory, none holds. */
function commandOf({ program, limits }: ChildOptions): string[] {
  const command = [process.execPath, program]
  if (limits === undefined) return command
  const kilobytes = Math.ceil(limits.memoryBytes / 1_024)
  const script = `ulimit -t ${limits.cpuSeconds}; ulimit -d ${kilobytes}; exec "$0" "$@"`
  return ['/bin/sh', '-c', script, ...command]
}

function startChild<Result>(options: ChildOptions): Running<Result> {
  const child: Running<Result> = {
    settle: null,
    done: 0,
    ended: false,
    process: Bun.spawn(commandOf(options), {
      // What works on people's texts and pictures needs no secret of the service.
      env: {},
      stdio: ['ignore', 'ignore', 'ignore'],
      serialization: 'advanced',
      ipc: (reply: Reply<Result>) => child.settle?.(reply),
      onExit(_process, code, signal) {
        child.ended = true
        child.settle?.(lost(`the child ended (${signal ?? code})`))
      },
    }),
  }
  return child
}

/** Waits for a child's reply, but not for ever. */
async function ask<Result>(child: Running<Result>, order: unknown, timeoutMs: number) {
  const reply = Promise.withResolvers<Reply<Result>>()
  child.settle = reply.resolve
  const timer = setTimeout(() => reply.resolve(late), timeoutMs)
  try {
    child.process.send(order)
    return await reply.promise
  } finally {
    clearTimeout(timer)
    child.settle = null
  }
}

/** Opens a child; nothing runs before the first order, and nothing after the end. */
export function openChild<Order, Result>(options: ChildOptions): Child<Order, Result> {
  const queue = createBoundedQueue({ running: 1, waiting: options.waiting })
  let child: Running<Result> | null = null
  let idle: Timer | undefined
  let closed = false

  const end = async (): Promise<void> => {
    clearTimeout(idle)
    const ending = child
    child = null
    ending?.process.kill('SIGKILL')
    await ending?.process.exited
  }

  const run = async (order: Order): Promise<Result> => {
    const ending = () => unavailable('The service is about to end: please try again in a moment.')
    if (closed) throw ending()
    clearTimeout(idle)
    if (child === null || child.ended) child = startChild<Result>(options)
    const worker = child
    const reply = await ask(worker, order, options.timeoutMs)
    worker.done++
    if (reply.rssBytes > options.recycleBytes || worker.done >= options.recycleAfter) await end()
    else idle = setTimeout(() => void end(), options.idleMs).unref()
    if (!('fault' in reply)) return reply.result
    // Ended by us, which tells nothing of the order.
    throw closed ? ending() : new ChildFailed(reply.fault, reply === late)
  }

  return {
    run: (order) => queue.run(() => run(order)),
    get pid() {
      return child?.process.pid ?? null
    },
    async close() {
      closed = true
      await end()
    },
  }
}
