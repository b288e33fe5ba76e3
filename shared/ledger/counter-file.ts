/**
 * Pairs of numbers under names, in a file that outlives the kill of its process: each is written where it stands,
 * into the page cache, for a microsecond. A power cut may lose the last seconds of it.
 */
import { closeSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'

const NAME_BYTES = 48
const RECORD_BYTES = NAME_BYTES + 16

export type Pair = readonly [number, number]

export interface CounterFile {
  /** What is noted, by name. */
  readonly pairs: ReadonlyMap<string, Pair>
  /** Notes a pair; it is remembered here also when the disk does not take it. @throws the disk's error */
  set(name: string, pair: Pair): void
  /** @param keep whether the file stays, for somebody to adopt */
  close(keep: boolean): void
}

/** @param path null: memory only */
export function openCounterFile(path: string | null): CounterFile {
  let file = path === null ? null : openSync(path, 'w')
  const pairs = new Map<string, Pair>()
  const places = new Map<string, number>()
  const record = Buffer.alloc(RECORD_BYTES)
  const numbers = record.subarray(NAME_BYTES)

  return {
    pairs,
    set(name, pair) {
      pairs.set(name, pair)
      if (file === null) return
      numbers.writeDoubleLE(pair[0], 0)
      numbers.writeDoubleLE(pair[1], 8)
      const known = places.get(name)
      if (known !== undefined) {
        writeSync(file, numbers, 0, numbers.length, known * RECORD_BYTES + NAME_BYTES)
        return
      }
      record.fill(0, 0, NAME_BYTES).write(name, 'latin1')
      writeSync(file, record, 0, RECORD_BYTES, places.size * RECORD_BYTES)
      places.set(name, places.size)
    },
    close(keep) {
      if (file === null) return
      closeSync(file)
      file = null
      if (!keep) rmSync(path!, { force: true })
    },
  }
}

/** Reads what a process left behind; a record that a full disk has cut is left out. */
export function readCounterFile(path: string): Map<string, Pair> {
  const bytes = readFileSync(path)
  const pairs = new Map<string, Pair>()
  for (let at = 0; at + RECORD_BYTES <= bytes.length; at += RECORD_BYTES) {
    const name = bytes.toString('latin1', at, at + NAME_BYTES).replaceAll('\0', '')
    const pair: Pair = [bytes.readDoubleLE(at + NAME_BYTES), bytes.readDoubleLE(at + NAME_BYTES + 8)]
    if (name !== '' && pair.every((number) => Number.isSafeInteger(number) && number >= 0))
      pairs.set(name, pair)
  }
  return pairs
}
