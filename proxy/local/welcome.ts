/** The addresses in the embedded run's welcome message. */
import { networkInterfaces } from 'node:os'

const networkAddresses = (): string[] =>
  Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter(({ family, internal }) => family === 'IPv4' && !internal)
    .map(({ address }) => address)

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || host.startsWith('127.')
const isEverywhere = (host: string): boolean => host === '0.0.0.0' || host === '::'

export const urlOf = (host: string, port: number): string => {
  if (isLoopback(host) || isEverywhere(host)) return `https://localhost:${port}`
  return `https://${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** A sentence: how phones reach it, or which setting they need. */
export function reachability(host: string, port: number, openIdentity: boolean): string {
  const addresses = (isLoopback(host) || isEverywhere(host) ? networkAddresses() : [host]).map(
    (address) => `https://${address}:${port}`,
  )
  const list = addresses.join(' or ') || `https://<address of this machine>:${port}`
  if (isLoopback(host))
    return `Only this machine can reach it. To allow phones in the same network, start it with
  EVENT_HOST=0.0.0.0 and open ${list} on the phone. The browser shows one warning about the self-signed certificate.`
  const caution = openIdentity
    ? '\n  Anyone who can reach it may write in any pilgrim’s name, because EVENT_IDENTITY is open. Use a trusted network.'
    : ''
  return `Phones in the same network can reach it at ${list}${caution}`
}
