/** Erased data is overwritten in the files of the embedded kv. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { openEmbeddedKv } from '#shared/stores/kv/kv.embedded.ts'
import { newDirectory } from '#tests/helpers/process.ts'
import { activate, admit, checkin, onError, rules } from '#tests/kv/drivers.ts'

let dir = ''
beforeAll(async () => void (dir = await newDirectory('erased-files')))
afterAll(() => rm(dir, { recursive: true, force: true }))

/** Bytes of all files of a store. */
const filesAt = (path: string): string =>
  readdirSync(dir)
    .filter((name) => join(dir, name).startsWith(path))
    .map((name) => readFileSync(join(dir, name), 'latin1'))
    .join('')

test('the files contain nothing of an erased person while the kv runs, is killed, or is closed', async () => {
  const path = join(dir, 'kv.sqlite')
  const kv = await openEmbeddedKv({ path, onError })
  await activate(kv)
  await admit(kv, checkin({ userId: 'U1' }))
  const gone = (i: number) =>
    checkin({
      userId: 'GONE-1',
      entries: [{ field: `c${i}`, value: `[0,1,24.987654321,120.123456789,1]${' '.repeat(i)}` }],
      duplicateKey: 'p24.987654321,120.123456789',
      position: { t: i, lat: 24.987654321, lng: 120.123456789 },
    })
  // Over several pages, and rewritten once in between.
  for (let i = 0; i < 300; i++) await admit(kv, gone(i), rules({ checkin: { max: 1_000, windowMs: 60_000 } }))
  await kv.erase('GONE-2', { generation: 1, erasedMs: 0, stands: true })
  await admit(kv, gone(301), rules({ checkin: { max: 1_000, windowMs: 60_000 } }))
  await kv.hide('GONE-1', true)
  await kv.cache('photos:GONE-1', '3', 60_000)
  expect(filesAt(path)).toContain('GONE-1')
  const stays = await kv.peek('U1')
  await kv.erase('GONE-1', { generation: 1, erasedMs: 0, stands: true }, ['photos:GONE-1'])
  const nothing = () =>
    ['GONE', '24.987654321', '120.123456789'].filter((word) => filesAt(path).includes(word))
  expect(nothing()).toEqual([])
  await kv.close()
  const again = await openEmbeddedKv({ path, onError })
  expect(nothing()).toEqual([])
  expect(await again.peek('U1')).toEqual(stays)
  await again.close()
})
