/** A TLS server whose certificate has a given lifetime; it counts its connections. */
import { createServer } from 'node:tls'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import { generate } from 'selfsigned'

const DAY_MS = 86_400_000

/**
 * Starts a server on localhost.
 * @param leftDays until its certificate expires
 * @param lifeDays total lifetime of the certificate
 * @param port default: a free one
 */
export async function startTlsServer(leftDays: number, lifeDays = 120, port = 0) {
  const endsMs = Date.now() + leftDays * DAY_MS
  const { cert, private: key } = await generate([{ name: 'commonName', value: 'localhost' }], {
    notBeforeDate: new Date(endsMs - lifeDays * DAY_MS),
    notAfterDate: new Date(endsMs),
    keyType: 'ec',
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: 'localhost' }] }],
  })
  let connections = 0
  const server = createServer({ cert, key }, (socket) => socket.on('error', () => undefined).resume())
  // Counts connections, not completed handshakes: a client that leaves during the handshake counts too.
  server.on('connection', () => connections++)
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    cert,
    /** The expiry in the certificate, in whole seconds. */
    endsMs: Math.floor(endsMs / 1_000) * 1_000,
    connections: () => connections,
    stop: () => void server.close(),
  }
}
