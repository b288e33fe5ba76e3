/** The TLS listener. */
import type { Server } from 'bun'
import { machineNow } from '#shared/runtime/clock.ts'
import { LoggableError, type Log } from '#shared/runtime/log.ts'
import { isDataDirectoryInUse, lockDataDirectory } from '#shared/runtime/data-directory-lock.ts'
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { X509Certificate } from 'node:crypto'
import { generate } from 'selfsigned'

/** Long, because phones on bad networks are slow. */
const IDLE_S = 120

interface Address {
  readonly host: string
  readonly port: number
}

/** Converts an error of the operating system to a message with the remedy. */
function listenError({ host, port }: Address, error: unknown): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  const sentence = {
    EADDRINUSE: `Port ${port} is in use by another program. Stop that program, or set EVENT_PORT to a free port.`,
    EADDRNOTAVAIL: `${host} is not an address of this machine. Set EVENT_HOST to one of its addresses, or to 0.0.0.0.`,
    EACCES: `Port ${port} needs administrator rights. Set EVENT_PORT to a port above 1023.`,
  }[String(code)]
  return sentence === undefined ? error : new LoggableError(sentence, { cause: error })
}

/** @throws LoggableError with the remedy, when the address cannot be bound */
function expectFreePort(address: Address): void {
  // Port 0 means any free port.
  if (address.port === 0) return
  try {
    Bun.listen({ hostname: address.host, port: address.port, socket: { data: () => undefined } }).stop(true)
  } catch (error) {
    throw listenError(address, error)
  }
}

/** Starts the server. @throws LoggableError with the remedy, when the address cannot be bound */
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
    return Bun.serve({
      ...options,
      hostname: address.host,
      port: address.port,
      idleTimeout: IDLE_S,
      // The services limit bodies themselves. Bun's own refusal has no body.
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    })
  } catch (error) {
    throw listenError(address, error)
  }
}

/** A killed run releases its port later than its lock. */
const PORT_TIMEOUT_MS = 2_000
const RETRY_MS = 50

/**
 * Locks the data directory, and checks that the port is free. Waits for an earlier run that is stopping. A process that
 * uses the port but not the directory is another program, and is reported before any file is created.
 * @returns a function that unlocks the directory
 * @throws LoggableError with the remedy; DataDirectoryInUse when another process locks the directory for 30 s
 */
export async function reserveDirectoryAndPort(
  { dataDir, ...address }: Address & { readonly dataDir: string },
  log: Log,
): Promise<() => void> {
  const hasPredecessor = isDataDirectoryInUse(dataDir)
  if (hasPredecessor) log.info('waiting for the process that uses the data directory to end', { dataDir })
  else expectFreePort(address)
  const unlock = lockDataDirectory(dataDir)
  const until = performance.now() + (hasPredecessor ? PORT_TIMEOUT_MS : 0)
  for (;;) {
    try {
      expectFreePort(address)
      return unlock
    } catch (error) {
      if (performance.now() >= until) {
        unlock()
        throw error
      }
      await Bun.sleep(RETRY_MS)
    }
  }
}

// The embedded run's self-signed certificate, created at the first start.

const DAY_MS = 86_400_000
const VALID_DAYS = 825
/** A certificate with less remaining time is replaced. */
const RENEW_DAYS = 30

interface Certificate {
  readonly cert: string
  readonly key: string
}

/** Reads the certificate of a data directory, or creates one for localhost and the loopback addresses. */
export async function openCertificate(dataDir: string): Promise<Certificate> {
  const dir = join(dataDir, 'tls')
  const certFile = join(dir, 'cert.pem')
  const keyFile = join(dir, 'key.pem')
  if (existsSync(certFile) && existsSync(keyFile)) {
    const cert = readFileSync(certFile, 'utf8')
    const ends = new X509Certificate(cert).validToDate.getTime()
    if (ends - machineNow() > RENEW_DAYS * DAY_MS) return { cert, key: readFileSync(keyFile, 'utf8') }
  }
  const made = await generate([{ name: 'commonName', value: 'localhost' }], {
    notAfterDate: new Date(machineNow() + VALID_DAYS * DAY_MS),
    keyType: 'ec',
    algorithm: 'sha256',
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      {
        name: 'subjectAltName',
        altNames: [
          { type: 2, value: 'localhost' },
          { type: 7, ip: '127.0.0.1' },
          { type: 7, ip: '::1' },
        ],
      },
    ],
  })
  mkdirSync(dir, { recursive: true, mode: 0o700 })
  writeFileSync(keyFile, made.private, { mode: 0o600 })
  writeFileSync(certFile, made.cert)
  chmodSync(keyFile, 0o600)
  return { cert: made.cert, key: made.private }
}
