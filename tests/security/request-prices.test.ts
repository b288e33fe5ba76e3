/** Every public write has a price, and the bytes that an address stores are limited. */
import { expect, test } from 'bun:test'
import type { ServiceName } from '#shared/contracts/endpoint.ts'
import { ENDPOINTS } from '#shared/contracts/endpoints.ts'
import { Refusal } from '#shared/runtime/refusal.ts'
import { readConfig } from '#shared/runtime/config/config.ts'
import {
  createKeptLimit,
  KEPT_AN_HOUR,
  keptBytes,
  priceOfCall,
  PRICES,
  SHARES,
} from '#shared/service/security/request-prices.ts'

/** Deletions and reads store nothing. */
const KEEPS_NOTHING = /^(list|read|revoke|export|erase|unsubscribe|draw|load|count|receive|view)/

test('every public write that keeps something has a price', () => {
  const writes = ENDPOINTS.filter(({ limit, access }) => access === 'public' && limit !== null)
  const named = writes.map(({ id }) => id).filter((id) => !KEEPS_NOTHING.test(id))
  expect(Object.keys(PRICES).sort()).toEqual(named.sort())
})

test('all services together give an address a tenth of a core; each that keeps something has a bound', () => {
  const shares = Object.values(SHARES).flatMap(({ writes, reads }) => [writes, reads])
  const { max, windowMs } = readConfig({}).limits.address
  expect((shares.reduce((sum, share) => sum + share) * max) / windowMs).toBeCloseTo(0.1, 6)
  const open = ENDPOINTS.filter(({ access, limit }) => access === 'public' && limit !== 'admin')
  expect([...new Set(open.map(({ service }) => service))].sort()).toEqual(Object.keys(SHARES).sort() as never)
  const keeping = open.filter((endpoint) => {
    const { kept, keptPerByte, keptPerPoint } = priceOfCall(endpoint)
    return kept + keptPerByte + keptPerPoint > 0
  })
  expect([...new Set(keeping.map(({ service }) => service))].sort()).toEqual(
    Object.keys(KEPT_AN_HOUR).sort() as never,
  )
})

const refuses = (charge: () => void): boolean => {
  try {
    charge()
    return false
  } catch (error) {
    if (error instanceof Refusal && error.httpStatus === 429) return true
    throw error
  }
}

test.each([
  { max: 6_000, windowMs: 60_000 },
  { max: 360_000, windowMs: 3_600_000 },
])('an address has all services together keep at most 50 MB an hour, in any hour (%p)', (window) => {
  let nowMs = 0
  const kept = createKeptLimit(window, () => nowMs)
  const perCall = keptBytes(PRICES.syncTrack!, 100_000, { points: Array.from({ length: 2_000 }) })
  const fill = (service: ServiceName): number => {
    let bytes = 0
    while (!refuses(() => kept.charge(service, 'a', perCall))) {
      bytes += perCall
      nowMs += 100
    }
    return bytes
  }
  const all = (Object.keys(KEPT_AN_HOUR) as ServiceName[]).reduce((sum, service) => sum + fill(service), 0)
  expect(all).toBeWithin(50_000_000, 50_000_000 + 4 * perCall)
  expect(refuses(() => kept.charge('tracking', 'b', 1))).toBe(false)
  nowMs += 3_590_000
  expect(refuses(() => kept.charge('tracking', 'a', 1))).toBe(true)
  nowMs += 3_600_000
  expect(refuses(() => kept.charge('tracking', 'a', 1))).toBe(false)
})
