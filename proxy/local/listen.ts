/** The TLS listener. */
import type { Server } from 'bun'
import type { Certificate } from './certificate.ts'
import { LoggableError } from '#shared/runtime/loggable-error.ts'

/** Long, because phones on bad networks are slow. */
const IDLE_S = 120

/** The address to listen on. */
export interface Address {
  readonly host: string
  readonly port: number
}

/** Turns an error of the operating system into a message that says what to do. */
function listenError({ host, port }: Address, error: unknown): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  const sentence = {
    EADDRINUSE: `Port ${port} is in use by another program. Stop that program, or set EVENT_PORT to a free port.`,
    EADDRNOTAVAIL: `${host} is not an address of this machine. Set EVENT_HOST to one of its addresses, or to 0.0.0.0.`,
    EACCES: `Port ${port} needs administrator rights. Set EVENT_PORT to a port above 1023.`,
  }[String(code)]
  return sentence === undefined ? error : new LoggableError(sentence, { cause: error })
}

/** @throws LoggableError with what to do, when the address can not be listened on */
export function expectFreePort(address: Address): void {
  // Port 0 means any free port.
  if (address.port === 0) return
  try {
    Bun.listen({ hostname: address.host, port: address.port, socket: { data: () => undefined } }).stop(true)
  } catch (error) {
    throw listenError(address, error)
  }
}

/** Starts the server. @throws LoggableError with what to do, when the address can not be listened on */
export function listen({
  address,
  ...options
}: {
  readonly address: Address
  readonly tls: Certificate
  readonly fetch: (request: Request) => Response | Promise<Response>
  /** The answer when `fetch` throws. Bun's own error page would show the code. */
  readonly error: (error: Error) => Response
}): Server<undefined> {
  try {
    return Bun.serve({ ...options, hostname: address.host, port: address.port, idleTimeout: IDLE_S })
  } catch (error) {
    throw listenError(address, error)
  }
}
