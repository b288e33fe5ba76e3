/** A TCP proxy in front of a server, for the networks that tests cannot find on a loopback: slow, silent, torn. */
import { connect, createServer, type Socket } from 'node:net'

/** What happens to bytes on their way, from now on. */
export type LinkCondition =
  | { readonly kind: 'clear' }
  /** Each way takes this much longer. */
  | { readonly kind: 'slow'; readonly toServerMs: number; readonly toClientMs: number }
  /** Bytes vanish while connections stay open; no such connection says anything again, whatever the weather. */
  | { readonly kind: 'silent' }
  /** The server gets the first half of what comes next; then both sides are hung up on. */
  | { readonly kind: 'torn' }
  /** Every connection is hung up on, at once. */
  | { readonly kind: 'closed' }

export interface TcpProxy extends AsyncDisposable {
  readonly port: number
  set(condition: LinkCondition): void
  close(): Promise<void>
}

/** Listens on a free loopback port and forwards to `target`. */
export async function openTcpProxy(target: number): Promise<TcpProxy> {
  let condition: LinkCondition = { kind: 'clear' }
  const open = new Set<Socket>()

  /** TCP never leaves out a part and goes on: what lost some bytes is lost. */
  const lost = new WeakSet<Socket>()

  const forward = (from: Socket, to: Socket, way: 'toServerMs' | 'toClientMs') => {
    // Bytes keep their order, also when the weather clears up while some are late.
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
      const nowMs = performance.now()
      lastMs = Math.max(lastMs, nowMs + (condition.kind === 'slow' ? condition[way] : 0))
      if (lastMs <= nowMs && late.length === 0) {
        to.write(chunk)
        return
      }
      late.push(chunk)
      setTimeout(() => to.write(late.shift()!), lastMs - nowMs)
    })
    from.on('close', () => to.destroy())
    // A reset is what some weathers are about; it ends in `close`.
    from.on('error', () => undefined)
  }

  const server = createServer((client) => {
    if (condition.kind === 'closed') {
      client.destroy()
      return
    }
    const upstream = connect(target, '127.0.0.1')
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
    set(next) {
      condition = next
      if (next.kind === 'closed') for (const socket of open) socket.destroy()
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}
