/** Listening with TLS; a predecessor that is stopping still has the port for a moment. */
import type { Server } from 'bun'
import type { Certificate } from './certificate.ts'
import { LoggableError } from '#shared/runtime/loggable-error.ts'

const WAIT_MS = 30_000
const RETRY_MS = 200
/** Phones on bad networks are slow; nothing behind us closes earlier. */
const IDLE_S = 120

/** @throws when the port is still in use after 30 s */
export async function listen(options: {
  readonly port: number
  readonly tls: Certificate
  readonly fetch: (request: Request) => Response | Promise<Response>
  /** What a client gets when `fetch` throws; Bun's own page would show it the code. */
  readonly error: (error: Error) => Response
}): Promise<Server<undefined>> {
  const until = performance.now() + WAIT_MS
  for (;;) {
    try {
      return Bun.serve({ ...options, idleTimeout: IDLE_S })
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EADDRINUSE')) throw error
      if (performance.now() >= until)
        throw new LoggableError(
          `Port ${options.port} is in use by another program: stop that one, or set EVENT_PORT to a free port.`,
          { cause: error },
        )
      await Bun.sleep(RETRY_MS)
    }
  }
}
