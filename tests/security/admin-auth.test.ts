/** Admin tokens: authentication, and how guesses are delayed, reported and limited. */
import { expect, test } from 'bun:test'
import { createAuth } from '#shared/service/security/admin-auth.ts'
import type { Token } from '#shared/runtime/config/setting-values.ts'
import { Refusal } from '#shared/runtime/refusal.ts'
import { clientNetwork } from '#shared/service/http/client-address.ts'
import { rejection } from '#tests/helpers/rejection.ts'

const TOKENS: readonly Token[] = [
  { name: 'anna', role: 'owner', value: 'a-long-owner-token' },
  { name: 'ben', role: 'volunteer', value: 'ä token of bytes beyond ASCII' },
]

/** An auth with a clock and waits that the test controls. */
function harness() {
  const told: [address: string, guesses: number][] = []
  const waits: number[] = []
  const clock = { ms: 0 }
  const auth = createAuth(
    TOKENS,
    () => clock.ms,
    (...guess) => void told.push(guess),
    async (ms) => void waits.push(ms),
  )
  const guess = (address: string, token = 'wrong') => rejection(auth.authenticate(token, address))
  return { auth, clock, told, waits, guess }
}

test('a token of any length and any characters is compared whole', async () => {
  const { auth, guess } = harness()
  for (const { name, role, value } of TOKENS)
    expect(await auth.authenticate(value, 'a')).toMatchObject({ name, role })
  const [{ value }] = TOKENS as [Token]
  for (const wrong of [
    value.slice(0, -1),
    `${value}x`,
    value.toUpperCase(),
    ` ${value}`,
    'x',
    '\u0000',
    'x'.repeat(1e5),
  ])
    expect(await guess('b', wrong)).toMatchObject({ httpStatus: 401 })
  expect(await auth.authenticate(null, 'b')).toBeNull()
  expect(await auth.authenticate('', 'b')).toBeNull()
})

test('without configured tokens nobody is admitted', async () => {
  const auth = createAuth([], Date.now)
  expect(await rejection(auth.authenticate('undefined', 'a'))).toBeInstanceOf(Refusal)
})

test('each wrong token is delayed longer, at most 2 s; a correct one is not delayed', async () => {
  const { auth, waits, guess } = harness()
  for (let i = 0; i < 12; i++) await guess('a')
  expect(waits.slice(0, 9)).toEqual([0, 0, 50, 100, 200, 400, 800, 1_600, 2_000])
  expect(Math.max(...waits)).toBe(2_000)
  expect(await auth.authenticate(TOKENS[0]!.value, 'a')).toMatchObject({ name: 'anna' })
  expect(waits).toHaveLength(12)
  await guess('b')
  expect(waits.at(-1)).toBe(0)
})

test('the delay is reset after ten minutes without a wrong token', async () => {
  const { clock, waits, guess } = harness()
  for (let i = 0; i < 12; i++) await guess('a')
  clock.ms += 600_000
  await guess('a')
  expect(waits.at(-1)).toBe(0)
})

test('guessing is reported with growing intervals and without the token', async () => {
  const { told, guess } = harness()
  for (let i = 0; i < 100; i++) await guess('192.0.2.1', `secret-${i}`)
  expect(told).toEqual([1, 2, 4, 8, 16, 32, 64].map((guesses) => ['192.0.2.1', guesses]))
})

test('many addresses do not use more memory, and do not reset an address that keeps guessing', async () => {
  const { waits, guess } = harness()
  for (let i = 0; i < 30_000; i++) {
    if (i % 5_000 === 0) await guess('keeps-guessing')
    await guess(`10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`)
  }
  for (let i = 0; i < 3; i++) await guess('keeps-guessing')
  expect(waits.at(-1)).toBe(2_000)
  // The first addresses are forgotten by now.
  await guess('10.0.0.0')
  expect(waits.at(-1)).toBe(0)
})

test('all IPv6 addresses of a subscriber count as one', () => {
  expect(clientNetwork('192.0.2.7')).toBe('192.0.2.7')
  expect(clientNetwork('::ffff:192.0.2.7')).toBe('192.0.2.7')
  for (const address of [
    '2001:db8:1:2::1',
    '2001:DB8:1:2:ffff:ffff:ffff:ffff',
    '2001:0db8:0001:0002:0:0:0:9%eth0',
  ])
    expect(clientNetwork(address)).toBe('2001:db8:1:2::/64')
  expect(clientNetwork('2001:db8::1')).toBe('2001:db8:0:0::/64')
  expect(clientNetwork('::1')).toBe('0:0:0:0::/64')
  for (const other of ['unknown', '', 'a, b', '127.0.0.1, 10.0.0.1']) expect(clientNetwork(other)).toBe(other)
})
