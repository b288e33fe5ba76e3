/** How much of the shared decoder one address can use. */
import { afterEach, expect, test } from 'bun:test'
import { type Decoder, openDecoder } from '#services/feedback-media/feedback/decode-picture.ts'
import { Refusal } from '#shared/runtime/refusal.ts'
import { createAddressLimit } from '#shared/service/security/caller-and-address-limits.ts'
import { rejection } from '#tests/helpers/rejection.ts'
import { jpegBombs } from './bombs/jpeg.ts'
import { png } from './pictures.ts'

let decoder: Decoder
afterEach(() => decoder?.close())
const limitOf = (max: number) => createAddressLimit({ max, windowMs: 60_000 })

test('two pictures of an address are in the queue at a time, and others get their turn', async () => {
  decoder = openDecoder(limitOf(6_000))
  const all = Array.from({ length: 9 }, () => decoder.asPng(png(8, 8), 'one'))
  const other = decoder.asPng(png(8, 8), 'other')
  const settled = await Promise.allSettled(all)
  expect(settled.map(({ status }) => status)).toEqual([
    'fulfilled',
    'fulfilled',
    ...Array<'rejected'>(7).fill('rejected'),
  ])
  expect(settled.at(-1)).toMatchObject({ reason: expect.objectContaining({ httpStatus: 503 }) })
  expect((await other).length).toBeGreaterThan(0)
  // A finished picture frees its place.
  expect((await decoder.asPng(png(8, 8), 'one')).length).toBeGreaterThan(0)
})

test('a picture that reaches a limit of the decoder stays in the rate limit of its address', async () => {
  decoder = openDecoder(limitOf(650))
  const { 'progressive JPEG, 600 empty scans': bomb } = await jpegBombs()
  expect(await rejection(decoder.asPng(bomb!, 'one'))).toMatchObject({ httpStatus: 400 })
  const refused = await rejection(decoder.asPng(png(8, 8), 'one'))
  expect(refused).toBeInstanceOf(Refusal)
  expect(refused).toMatchObject({ httpStatus: 429 })
  expect((await decoder.asPng(png(8, 8), 'other')).length).toBeGreaterThan(0)
})
