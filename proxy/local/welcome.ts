/** What the embedded run says when it listens. */
import { networkInterfaces } from 'node:os'

/** The machine's addresses in its own network. */
const networkAddresses = (): string[] =>
  Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter(({ family, internal }) => family === 'IPv4' && !internal)
    .map(({ address }) => address)

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || host.startsWith('127.')
const isEverywhere = (host: string): boolean => host === '0.0.0.0' || host === '::'

/** Where a run is reached from its own machine. */
export const urlOf = (host: string, port: number): string => {
  if (isLoopback(host) || isEverywhere(host)) return `https://localhost:${port}`
  return `https://${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** How phones reach it, or would. */
export function reachability(host: string, port: number, openIdentity: boolean): string {
  const addresses = (isLoopback(host) || isEverywhere(host) ? networkAddresses() : [host]).map(
    (address) => `https://${address}:${port}`,
  )
  const list = addresses.join(' or ') || `https://<address of this machine>:${port}`
  if (isLoopback(host))
    return `Only this machine reaches it. To open it to a phone in the same network, start it with
  EVENT_HOST=0.0.0.0 and open ${list} there; the browser warns of the run's own certificate once.`
  const caution = openIdentity
    ? '\n  Whoever reaches it may write in any pilgrim’s name, as EVENT_IDENTITY is open: use a network that you trust.'
    : ''
  return `Phones in the same network reach it at ${list}${caution}`
}
