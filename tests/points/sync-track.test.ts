/** The response to a batch of track points: what the phone may delete, what was known, what is counted. */
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { syncTrack } from '#shared/points/sync-track.ts'
import { Refusal } from '#shared/runtime/refusal.ts'
import type { Kv, Submission, Verdict } from '#shared/stores/kv/kv.ts'
import { openKv } from '#shared/stores/kv/open-kv.ts'
import { createCalendar } from '#shared/core/rules/calendar.ts'
import { newDirectory } from '#tests/helpers/process.ts'
import { rejection } from '#tests/helpers/rejection.ts'
import { activate, admit, onError } from '#tests/kv/drivers.ts'

const NOW = Date.parse('2026-04-10T12:00:00Z')
const MINUTE = 60_000

let dir: string
let kv: Kv
let counted: Record<string, number>

beforeEach(async () => {
  dir = await newDirectory('sync-track')
  kv = await openKv({ url: '', partitions: 1, path: join(dir, 'kv'), onError })
  await activate(kv)
  counted = {}
})
afterEach(async () => {
  await kv?.close()
  await rm(dir, { recursive: true })
})

const at = (minutesAgo: number) => ({ lat: 23.5, lng: 120.25, timestamp: NOW - minutesAgo * MINUTE })

const admitted = async (one: Submission) => (await admit(kv, one)) as Verdict

const sent = (points: readonly object[], admitTrack = admitted) =>
  syncTrack(admitTrack, { user_id: 'anna', points: [...points] }, NOW, {
    calendar: createCalendar('Asia/Taipei'),
    area: () => true,
    maxAgeMs: 30 * 86_400_000,
    clearedMs: () => null,
    limit: { max: 10, windowMs: 60_000 },
    count: (name, points) => (counted[name] = (counted[name] ?? 0) + points),
  })

test('points that the buffer holds already are duplicates, as are those that a batch names twice', async () => {
  const first = await sent([at(5), at(4), at(3)])
  expect(first).toMatchObject({ accepted: 3, duplicates: 0, durable_through: '2026-04-10T11:57:00.000Z' })
  const second = await sent([at(4), at(3), at(2), at(2), at(1)])
  expect(second).toMatchObject({ accepted: 2, duplicates: 3, durable_through: '2026-04-10T11:59:00.000Z' })
  // The admission counts points that the buffer already has.
  expect(counted).toEqual({ duplicate: 1 })
  expect(await kv.peek('anna')).toHaveLength(5)
})

test('a refused batch counts its repeated and rejected points, as they were received', async () => {
  const paused: Verdict = { outcome: 'refused', status: 'paused', message: null }
  const refused = sent([at(2), at(2), { lat: 'north' }, at(-2_000)], async () => paused)
  expect(await rejection(refused)).toBeInstanceOf(Refusal)
  expect(counted).toMatchObject({ duplicate: 1 })
  expect(Object.values(counted).reduce((sum, points) => sum + points, 0)).toBe(3)
})
