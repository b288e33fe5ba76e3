/** The files of the map: complete versions, their slots, several writers, leftovers, and a failing disk. */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import {
  chmodSync,
  lstatSync,
  lutimesSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  utimesSync,
} from 'node:fs'
import { join } from 'node:path'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { Answers } from '#services/tracking/map/map-snapshots.ts'
import { writeMapFiles } from '#services/tracking/map/map-files.ts'
import type { EventMap } from '#shared/contracts/map.ts'
import { newDirectory } from '#tests/helpers/process.ts'

const SLOTS = 4

describe('files of the map', () => {
  let dir: string
  beforeEach(async () => void (dir = await newDirectory('map-files')))
  afterEach(() => {
    chmodSync(dir, 0o700)
    rmSync(dir, { recursive: true })
  })

  const mapOf = (version: number, pilgrims = version): EventMap =>
    ({
      since: null,
      version,
      as_of: `${version}`,
      cells: [[1, 2, 14, pilgrims]],
      stale: [],
    }) as unknown as EventMap
  const answersOf = (versions: readonly EventMap[]) =>
    new Answers(versions.at(-1)!, new Map(versions.map((map) => [map.version, map])))
  const write = (versions: readonly number[], isStale = false, pilgrims?: number, hidesPalanquin = false) =>
    writeMapFiles(dir, {
      version: versions.at(-1)!,
      isStale,
      hidesPalanquin,
      answers: answersOf(versions.map((version) => mapOf(version, pilgrims))).latest(12),
    })
  const names = () => readdirSync(dir).sort()
  const linked = () =>
    Object.fromEntries(
      names()
        .filter((name) => name.startsWith('at-'))
        .map((name) => [name, readlinkSync(join(dir, name))]),
    )
  /** Ages an entry by this many seconds. */
  const age = (name: string, seconds: number) => {
    const path = join(dir, name)
    const changed = lstatSync(path).mtimeMs / 1_000 - seconds
    lutimesSync(path, changed, changed)
  }
  const read = (slot: number, file: string) => readFileSync(join(dir, `at-${slot}`, file))

  test('a version has its whole map and what has changed, in every encoding, for the slots of 40 s', async () => {
    await write([100, 101, 102])
    expect(names()).toEqual(['at-102', 'at-103', 'at-104', 'at-105', 'made-102'])
    const files = ['map.json', 'map100.json', 'map101.json', 'map102.json']
    expect(readdirSync(join(dir, 'made-102')).sort()).toEqual(
      files.flatMap((file) => [file, `${file}.br`, `${file}.gz`, `${file}.zst`]).sort(),
    )
    for (const file of files) {
      const text = read(102, file).toString()
      const forms = [
        brotliDecompressSync(read(102, `${file}.br`)),
        gunzipSync(read(102, `${file}.gz`)),
        Bun.zstdDecompressSync(read(102, `${file}.zst`)),
      ]
      for (const form of forms) expect(form.toString()).toBe(text)
      expect(JSON.parse(text).data.version).toBe(102)
    }
    expect(JSON.parse(read(105, 'map101.json').toString()).data).toMatchObject({
      since: 101,
      cells: [[1, 2, 14, 102]],
    })
  })

  test('a version without the palanquin replaces the same version with it, in all its slots', async () => {
    await write([100, 101])
    await write([100, 101], false, 7, true)
    for (let slot = 101; slot < 101 + SLOTS; slot++)
      expect(JSON.parse(read(slot, 'map.json').toString()).data.cells).toEqual([[1, 2, 14, 7]])
  })

  test('another user may read them, although a service’s own files are private', async () => {
    const before = process.umask(0o077)
    try {
      await write([1])
    } finally {
      process.umask(before)
    }
    const mode = (path: string) => (lstatSync(join(dir, path)).mode & 0o777).toString(8)
    expect([mode('made-1'), mode('made-1/map.json'), mode('made-1/map1.json.br')]).toEqual([
      '755',
      '644',
      '644',
    ])
  })

  test('versions follow each other in bounded room, and each slot of now always has a file', async () => {
    for (let version = 100; version < 140; version++) {
      // Each version is written ten seconds after the previous one.
      for (const name of names()) age(name, 10)
      await write([version])
      for (let slot = version; slot < version + SLOTS; slot++)
        expect(JSON.parse(read(slot, 'map.json').toString()).data.version).toBe(version)
      expect(names().length).toBeLessThanOrEqual(2 * (SLOTS + 6) + SLOTS)
    }
  })

  test('a replica whose clock is a minute ahead removes nothing that others serve now', async () => {
    await write([100])
    await write([106])
    expect(JSON.parse(read(100, 'map.json').toString()).data.version).toBe(100)
    await write([101])
    await write([107])
    for (const slot of [101, 102, 103])
      expect(JSON.parse(read(slot, 'map.json').toString()).data.version).toBe(101)
  })

  test('replicas that write one version at once leave one folder and nothing else', async () => {
    await Promise.all(Array.from({ length: 8 }, () => write([7, 8])))
    expect(names()).toEqual(['at-10', 'at-11', 'at-8', 'at-9', 'made-8'])
    // A late replica does not revert what others have written since.
    await write([9])
    await write([7, 8])
    expect(linked()).toEqual({
      'at-8': 'made-8',
      ...Object.fromEntries([9, 10, 11, 12].map((slot) => [`at-${slot}`, 'made-9'])),
    })
  })

  test('a stale version only takes slots that no other has, and a fresh one takes them back', async () => {
    await write([20])
    await write([21], true)
    expect(linked()).toEqual({
      ...Object.fromEntries([20, 21, 22, 23].map((slot) => [`at-${slot}`, 'made-20'])),
      'at-24': 'made-21-stale',
    })
    for (let version = 22; version < 40; version++) {
      await write([version], true)
      expect(() => read(version, 'map.json')).not.toThrow()
    }
    await write([39])
    expect(linked()).toMatchObject(
      Object.fromEntries([39, 40, 41, 42].map((slot) => [`at-${slot}`, 'made-39'])),
    )
  })

  test('what a killed process has left is removed, and what another is just writing stays', async () => {
    for (const name of ['new-left', 'new-now']) mkdirSync(join(dir, name))
    utimesSync(join(dir, 'new-left'), 1, 1)
    mkdirSync(join(dir, 'of-somebody-else'))
    await write([50])
    expect(names().filter((name) => !/^(at|made)-/.test(name))).toEqual(['new-now', 'of-somebody-else'])
  })
})
