/** The export of journals to a backup: of running processes, of ended ones, and of ones that do not answer. */
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { readdirSync, utimesSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import {
  collectJournals,
  createJournalExport,
  deleteJournals,
} from '#shared/points/journal/journal-export.ts'
import { type Journal, openJournal } from '#shared/points/journal/journal.ts'
import { createLog } from '#shared/runtime/log.ts'
import { newDirectory } from '#tests/helpers/process.ts'
import { rejection } from '#tests/helpers/rejection.ts'
import { until } from '#tests/helpers/wait.ts'
import { checkin } from '#tests/kv/drivers.ts'

let dir: string
beforeEach(async () => void (dir = await newDirectory('journals')))
afterEach(() => rm(dir, { recursive: true, force: true }))

const log = createLog({}, () => undefined)
const fill = async (journal: Journal, count: number): Promise<string[]> => {
  const submissions = Array.from({ length: count }, () => checkin())
  await Promise.all(submissions.map((one) => journal.append(one)))
  return submissions.map(({ id }) => id)
}
const collected = async (patienceMs?: number): Promise<string[]> => {
  const ids = (await Array.fromAsync(collectJournals(dir, patienceMs))).flat().map(({ id }) => id)
  return [...new Set(ids)].sort()
}

test('a locked journal is exported by its process, an abandoned one is read; both keep their entries', async () => {
  const held = openJournal(dir, 10_000)
  const left = openJournal(dir, 10_000)
  const ids = [...(await fill(held, 1_234)), ...(await fill(left, 5))].sort()
  left.close()
  const handOver = createJournalExport(held, log)
  const timer = setInterval(() => void handOver(), 20)
  expect(await collected()).toEqual(ids)
  expect(await collected()).toEqual(ids)
  clearInterval(timer)
  expect(held.size()).toBe(1_234)
  expect(readdirSync(dir).filter((name) => !name.includes('.journal'))).toEqual([])
  expect(readdirSync(dir).filter((name) => name.includes('.copy'))).toEqual([])
  held.close()
})

test('entries that are adopted during an export are not missed', async () => {
  const left = openJournal(dir, 10_000)
  const ids = await fill(left, 5)
  const held = openJournal(dir, 10_000)
  ids.push(...(await fill(held, 3)))
  const handOver = createJournalExport(held, log)
  const collecting = collected()
  // The first process has exported its entries; then the second one ends, and the first adopts its journal.
  await until(
    async () => (await handOver(), readdirSync(dir).some((name) => name.endsWith('.copy'))),
    'a copy',
  )
  left.close()
  expect(await held.adopt()).toEqual({ entries: 5, faults: [] })
  const timer = setInterval(() => void handOver(), 20)
  expect(await collecting).toEqual(ids.sort())
  clearInterval(timer)
  held.close()
})

test('files of a killed backup are deleted within an hour, without another backup', async () => {
  const held = openJournal(dir, 10)
  const hourAgo = Date.now() / 1_000 - 3_601
  for (const name of ['dead.asked', 'x.journal.dead.copy', 'x.journal.dead.copy.unfinished', 'live.asked']) {
    writeFileSync(join(dir, name), '')
    if (name.includes('dead')) utimesSync(join(dir, name), hourAgo, hourAgo)
  }
  await createJournalExport(held, log)()
  const left = readdirSync(dir).filter((name) => /dead|live/.test(name))
  expect(left.sort()).toEqual([`${basename(held.path)}.live.copy`, 'live.asked'].sort())
  held.close()
})

test('an export reads journals only, and leaves the request of another backup', async () => {
  const left = openJournal(dir, 10)
  const ids = await fill(left, 2)
  left.close()
  for (const name of ['other.asked', 'notes.txt']) writeFileSync(join(dir, name), '')
  expect(await collected()).toEqual(ids.sort())
  expect(
    readdirSync(dir)
      .filter((name) => !name.includes('.journal'))
      .sort(),
  ).toEqual(['notes.txt', 'other.asked'])
})

test('a journal whose process does not answer fails the export, and cannot be deleted', async () => {
  const frozen = openJournal(dir, 10)
  await fill(frozen, 1)
  expect(String(await rejection(collected(200)))).toMatch(/does not export its entries/)
  expect(String(await rejection(deleteJournals(dir)))).toMatch(
    /A process still uses the journal .*Stop all services first/,
  )
  frozen.close()
  expect(await collected(200)).toHaveLength(1)
  for (const name of ['ended.counters', 'notes.txt']) writeFileSync(join(dir, name), '')
  await deleteJournals(dir)
  expect(readdirSync(dir)).toEqual(['notes.txt'])
  expect(await collected(200)).toEqual([])
  expect(await Array.fromAsync(collectJournals(join(dir, 'nothing')))).toEqual([])
})
