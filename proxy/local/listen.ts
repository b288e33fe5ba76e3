/** Listening with TLS, where nobody else does. */
import type { Server } from 'bun'
import type { Certificate } from './certificate.ts'
import { LoggableError } from '#shared/runtime/loggable-error.ts'

/** Phones on bad networks are slow; nothing behind us closes earlier. */
const IDLE_S = 120

/** Where to listen. */
export interface Address {
  readonly host: string
  readonly port: number
}

/** Turns an error of the system into what is to be done about it. */
function faultOf({ host, port }: Address, error: unknown): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  const sentence = {
    EADDRINUSE: `Port ${port} is in use by another program: stop that one, or set EVENT_PORT to a free port.`,
    EADDRNOTAVAIL: `${host} is no address of this machine: set EVENT_HOST to one that is, or to 0.0.0.0.`,
    EACCES: `Port ${port} is for the administrator only: set EVENT_PORT to one above 1023.`,
  }[String(code)]
  return sentence === undefined ? error : new LoggableError(sentence, { cause: error })
}

/** @throws with what to do about it, where nobody can listen there */
export function expectFree(address: Address): void {
  // Port 0 is any that is free.
  if (address.port === 0) return
  try {
    Bun.listen({ hostname: address.host, port: address.port, socket: { data: () => undefined } }).stop(true)
  } catch (error) {
    throw faultOf(address, error)
  }
}

/** @throws with what to do about it, where nobody can listen there */
export function listen({
  address,
  ...options
}: {
  readonly address: Address
  readonly tls: Certificate
  readonly fetch: (request: Request) => Response | Promise<Response>
  /** What a client gets when `fetch` throws; Bun's own page would show it the code. */
  readonly error: (error: Error) => Response
}): Server<undefined> {
  try {
    return Bun.serve({ ...options, hostname: address.host, port: address.port, idleTimeout: IDLE_S })
  } catch (error) {
    throw faultOf(address, error)
  }
}
