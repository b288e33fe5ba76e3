/**
 * A file of named pairs of numbers that survives the kill of its process. Each write replaces a pair in place, in the
 * page cache, and takes about a microsecond. A power cut may lose the last seconds.
 */
import { closeSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'

const NAME_BYTES = 48
const RECORD_BYTES = NAME_BYTES + 16

export type Pair = readonly [number, number]

/** @param path null: memory only */
export function openCounterFile(path: string | null) {
  let file = path === null ? null : openSync(path, 'w')
  const pairs = new Map<string, Pair>()
  const places = new Map<string, number>()
  const record = Buffer.alloc(RECORD_BYTES)
  const numbers = record.subarray(NAME_BYTES)

  return {
    pairs: pairs as ReadonlyMap<string, Pair>,
    /** Sets a pair. @throws for a long name, or the disk's error; the pair is set in memory nevertheless */
    set(name: string, pair: Pair): void {
      pairs.set(name, pair)
      if (file === null) return
      if (name.length > NAME_BYTES) throw new RangeError(`a counter's name is too long: ${name}`)
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
    /** @param keep whether the file stays, so that another process adopts it */
    close(keep: boolean): void {
      if (file === null) return
      closeSync(file)
      file = null
      if (!keep) rmSync(path!, { force: true })
    },
  }
}

/** Reads the file of an ended process. A record truncated by a full disk is skipped. */
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
