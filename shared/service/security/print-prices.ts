/** `bun run prices`: prints the cost of each public write at its largest body. */
import { ENDPOINTS } from '#shared/contracts/endpoints.ts'
import { MAX_POINTS } from '#shared/contracts/fields.ts'
import { readCommandLine } from '#shared/runtime/command-line.ts'
import { environment, readConfig } from '#shared/runtime/config/config.ts'
import { KEPT_AN_HOUR, keptBytes, PRICES, priceInMs, SHARES } from './request-prices.ts'

const USAGE = `Prints what each public write costs at its largest body: milliseconds of a processor, kilobytes that the
stores keep, and how many of them an address may send in a minute; then what an address may have of each service, and
of all together.

  bun run prices

  --help   print this text
`

/** Bytes of the shortest point. */
const SHORTEST_POINT = 47

readCommandLine(USAGE, {})
const config = readConfig(environment())
const rows = ENDPOINTS.flatMap((endpoint) => {
  const price = PRICES[endpoint.id]
  if (price === undefined) return []
  const bytes = endpoint.method === 'GET' ? 0 : (endpoint.bodyBytes ?? config.bodyBytes)
  const points = Array.from({ length: Math.min(MAX_POINTS, Math.floor(bytes / SHORTEST_POINT)) })
  const sentBytes = endpoint.sentBytes ?? bytes
  const ms = priceInMs(price, bytes, sentBytes - bytes)
  const kept = keptBytes(price, bytes, { points })
  return [
    {
      endpoint: endpoint.id,
      bytes: sentBytes,
      ms,
      'kept kB': Math.ceil(kept / 1_000),
      'a minute': Math.ceil((config.limits.address.max * SHARES[endpoint.service]!.writes) / ms),
    },
  ]
})
process.stdout.write(`${Bun.inspect.table(rows)}\n`)

const { max, windowMs } = config.limits.address
const keptAnHour = new Map(Object.entries(KEPT_AN_HOUR))
const shares = Object.entries(SHARES).map(([service, { writes, reads }]) => ({
  service,
  '% of a core, writes': (writes * max * 100) / windowMs,
  '% of a core, reads': (reads * max * 100) / windowMs,
  'kept MB an hour': (keptAnHour.get(service) ?? 0) / 1e6,
}))
const sumOf = (name: keyof (typeof shares)[number]) =>
  shares.reduce((sum, share) => sum + Number(share[name]), 0)
const all = {
  service: 'all',
  '% of a core, writes': sumOf('% of a core, writes'),
  '% of a core, reads': sumOf('% of a core, reads'),
  'kept MB an hour': sumOf('kept MB an hour'),
}
process.stdout.write(`${Bun.inspect.table([...shares, all])}\n`)
