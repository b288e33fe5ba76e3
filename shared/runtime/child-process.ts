/**
 * Runs native code on untrusted input in a child process: a crash, a hang or excessive memory use affects one order,
 * and leaked native memory is freed with the process. One order at a time; the child starts with the first order.
 */
import { dlopen } from 'bun:ffi'
import type { Subprocess } from 'bun'
import { createBoundedQueue } from './bounded-queue.ts'
import { unavailable } from './refusal.ts'
import { LoggableError } from './log.ts'
import type { Reply } from './child-reply.ts'

/** An order failed; other orders are not affected. */
export class ChildFailed extends LoggableError {
  override name = 'ChildFailed'
  /** @param isLate whether the order timed out: the machine may be busy, so the order may be valid */
  constructor(
    message: string,
    readonly isLate: boolean,
  ) {
    super(message)
  }
}

export interface Child<Order, Result> {
  /** @throws Refusal 503 if the queue is full or closed; ChildFailed if this order fails */
  run(order: Order): Promise<Result>
  /** The process id; null if none runs. */
  readonly pid: number | null
  close(): Promise<void>
}

export interface ChildOptions {
  /** Path of the child's program, which calls `replyWith`. */
  readonly program: string
  readonly waiting: number
  /** The child is replaced after this many orders. */
  readonly recycleAfter: number
  /** The child is replaced when it uses this many bytes of memory. */
  readonly recycleBytes: number
  /** Timeout of an order; its child is killed. */
  readonly timeoutMs: number
  /** An order is answered within this time, including the wait. Default: the wait is unlimited. */
  readonly answerMs?: number
  /** An idle child ends after this time. */
  readonly idleMs: number
  /** Limits for the whole life of a child, enforced by the kernel, which kills a child that exceeds its CPU time. */
  readonly limits?: { readonly cpuSeconds: number; readonly memoryBytes: number }
}

interface Running<Result> {
  readonly process: Subprocess
  /** Settles the current order. */
  settle: ((reply: Reply<Result>) => void) | null
  done: number
  ended: boolean
}

/** An order with less time left than this is not started. */
const LEAST_MS = 4_000

/** Replaces the reply of an unusable child; its size makes the caller replace the child. */
const lost = (fault: string) => ({ fault, rssBytes: Number.MAX_SAFE_INTEGER })
const late = lost('no reply in time')

/** A shell sets the limits, which works on every system, and then becomes the child. Not all systems limit memory. */
function commandOf({ program, limits }: ChildOptions): string[] {
  const command = [process.execPath, program]
  if (limits === undefined) return command
  const kilobytes = Math.ceil(limits.memoryBytes / 1_024)
  const script = `ulimit -t ${limits.cpuSeconds}; ulimit -d ${kilobytes}; exec "$0" "$@"`
  return ['/bin/sh', '-c', script, ...command]
}

/** The prctl(2) option for whether a process may be dumped, and so whether others may read its /proc. */
const PR_SET_DUMPABLE = 4

/**
 * Prevents other processes of the same user, such as a child compromised by an untrusted picture, from reading the
 * environment and the memory of this process in /proc. Has no effect on root and outside Linux.
 */
export function hideFromChildren(): void {
  if (process.platform !== 'linux') return
  const { symbols } = dlopen('libc.so.6', { prctl: { args: ['int', 'u64'], returns: 'int' } })
  symbols.prctl(PR_SET_DUMPABLE, 0n)
}

function startChild<Result>(options: ChildOptions): Running<Result> {
  hideFromChildren()
  const child: Running<Result> = {
    settle: null,
    done: 0,
    ended: false,
    process: Bun.spawn(commandOf(options), {
      // The child processes untrusted input, so it gets no secrets of the service.
      env: {},
      stdio: ['ignore', 'ignore', 'ignore'],
      serialization: 'advanced',
      ipc: (reply: Reply<Result>) => child.settle?.(reply),
      onExit(_process, code, signal) {
        child.ended = true
        child.settle?.(lost(`the child ended (${signal ?? code ?? 'unknown'})`))
      },
    }),
  }
  return child
}

/** Sends an order and waits for the reply, at most `timeoutMs`. */
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

/** Creates a child; its process starts with the first order, and never after `close`. */
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

  const ending = () => unavailable('The service is stopping: please try again in a moment.')

  /** Settles the answer as soon as it is known. Resolves when the next order may begin. */
  const run = async (order: Order, dueMs: number, answer: PromiseWithResolvers<Result>): Promise<void> => {
    if (closed) throw ending()
    clearTimeout(idle)
    if (child === null || child.ended) child = startChild<Result>(options)
    const worker = child
    const reply = await ask(worker, order, Math.min(options.timeoutMs, dueMs - performance.now()))
    if (!('fault' in reply)) answer.resolve(reply.result)
    // `close` ended the child, so the failure says nothing about the order.
    else answer.reject(closed ? ending() : new ChildFailed(reply.fault, reply === late))
    worker.done++
    // On a busy machine a killed process takes some time to end.
    if (reply.rssBytes > options.recycleBytes || worker.done >= options.recycleAfter) await end()
    else idle = setTimeout(() => void end(), options.idleMs).unref()
  }

  return {
    run(order) {
      const { answerMs } = options
      const answer = Promise.withResolvers<Result>()
      const dueMs = answerMs === undefined ? Infinity : performance.now() + answerMs
      const waitMs = answerMs === undefined ? undefined : answerMs - LEAST_MS
      queue.run(() => run(order, dueMs, answer), waitMs).catch(answer.reject)
      return answer.promise
    },
    get pid() {
      return child?.process.pid ?? null
    },
    async close() {
      closed = true
      await end()
    },
  }
}
