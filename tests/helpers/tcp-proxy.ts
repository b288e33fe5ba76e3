/** A TCP proxy in front of a server that simulates network faults: delay, loss, broken connections. */
import { connect, createServer, type Socket } from 'node:net'

/** The condition of the network from now on. */
export type LinkCondition =
  | { readonly kind: 'clear' }
  /** Each direction is delayed. */
  | { readonly kind: 'slow'; readonly toServerMs: number; readonly toClientMs: number }
  /** Bytes are lost while connections stay open. A connection that lost bytes stays silent in any later condition. */
  | { readonly kind: 'silent' }
  /** The server gets the first half of the next bytes; then the connection is closed on both sides. */
  | { readonly kind: 'torn' }
  /** Every connection is closed immediately. */
  | { readonly kind: 'closed' }
  /** The first `after` messages to the server pass; the next one is subject to the fault. */
  | ({ readonly kind: 'fault'; readonly after: number } & MessageFault)

/** The fault of a message: data that one side sends at once, usually a command. */
export type MessageFault =
  /** It does not arrive; after it every connection is closed. */
  | { readonly how: 'refused' }
  /** The server gets it; the connection is closed before its answer arrives. Others go on. */
  | { readonly how: 'cut' }
  /** The server gets it; its answer, and all later ones on this connection, are delayed by this time. */
  | { readonly how: 'late'; readonly byMs: number }

export interface TcpProxy extends AsyncDisposable {
  readonly port: number
  /** Messages to the server since the last `set`. */
  readonly messages: number
  /** Ports, as the server sees them, of connections that have ended since the last `set`. */
  readonly ended: readonly number[]
  set(condition: LinkCondition): void
  /** New connections go to another port, as after a failover. */
  forwardTo(port: number): void
  close(): Promise<void>
}

/** Listens on a free loopback port and forwards to `target`. */
export async function openTcpProxy(target: number): Promise<TcpProxy> {
  let condition: LinkCondition = { kind: 'clear' }
  let port = target
  let messages = 0
  let ended: number[] = []
  const open = new Set<Socket>()

  /** TCP cannot skip bytes, so a connection that lost some stays silent. */
  const lost = new WeakSet<Socket>()
  /** Connections to the server that have met a fault. */
  let faulty = new WeakMap<Socket, MessageFault>()

  /** @returns whether the message is delivered */
  const meetsFault = (from: Socket, to: Socket, way: 'toServerMs' | 'toClientMs'): boolean => {
    if (way === 'toServerMs') {
      const isNext = condition.kind === 'fault' && messages === condition.after
      messages++
      if (condition.kind !== 'fault' || !isNext) return true
      if (condition.how !== 'refused') {
        faulty.set(to, condition)
        return true
      }
      condition = { kind: 'closed' }
      for (const socket of open) socket.destroy()
      return false
    }
    if (faulty.get(from)?.how !== 'cut') return true
    to.destroy()
    from.destroy()
    return false
  }

  const forward = (from: Socket, to: Socket, way: 'toServerMs' | 'toClientMs') => {
    // Bytes keep their order, also when the condition becomes clear while some are delayed.
    const late: Buffer[] = []
    let lastMs = 0
    from.on('data', (chunk: Buffer) => {
      if (condition.kind === 'silent') for (const socket of [from, to]) lost.add(socket)
      if (lost.has(from)) return
      if (condition.kind === 'torn') {
        if (way === 'toServerMs') to.write(chunk.subarray(0, chunk.length >> 1))
        to.end(() => from.destroy())
        return
      }
      if (!meetsFault(from, to, way)) return
      const nowMs = performance.now()
      const fault = faulty.get(from)
      const byMs = fault?.how === 'late' ? fault.byMs : condition.kind === 'slow' ? condition[way] : 0
      lastMs = Math.max(lastMs, nowMs + byMs)
      if (lastMs <= nowMs && late.length === 0) {
        to.write(chunk)
        return
      }
      late.push(chunk)
      setTimeout(() => to.write(late.shift()!), lastMs - nowMs)
    })
    // The end is delayed as much as the bytes before it.
    from.on('close', () => setTimeout(() => to.destroy(), Math.max(0, lastMs - performance.now())))
    // Some conditions cause resets, which `close` handles.
    from.on('error', () => undefined)
  }

  const server = createServer((client) => {
    if (condition.kind === 'closed') {
      client.destroy()
      return
    }
    const upstream = connect(port, '127.0.0.1')
    upstream.on('connect', () => {
      const { localPort } = upstream
      upstream.on('close', () => ended.push(localPort!))
    })
    for (const socket of [client, upstream]) {
      open.add(socket)
      socket.on('close', () => open.delete(socket))
    }
    forward(client, upstream, 'toServerMs')
    forward(upstream, client, 'toClientMs')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port')

  const close = async () => {
    for (const socket of open) socket.destroy()
    await new Promise<void>((resolve) => server.close(() => resolve()))
  }
  return {
    port: address.port,
    get messages() {
      return messages
    },
    get ended() {
      return ended
    },
    set(next) {
      condition = next
      messages = 0
      ended = []
      faulty = new WeakMap()
      if (next.kind === 'closed') for (const socket of open) socket.destroy()
    },
    forwardTo: (next) => void (port = next),
    close,
    [Symbol.asyncDispose]: close,
  }
}
