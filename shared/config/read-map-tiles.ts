/** The operator's archive of map tiles, for the detailed map. */
import { closeSync, openSync, readSync } from 'node:fs'

/** A PMTiles archive of version 3 begins with its name and its version. */
const BEGINNING = [...new TextEncoder().encode('PMTiles'), 3]

/** Checks that the file is a PMTiles archive; null without one. Adds a fault if it is not. */
export function readMapTiles(file: string, faults: string[]): string | null {
  if (file === '') return null
  try {
    const begins = Buffer.alloc(BEGINNING.length)
    const opened = openSync(file, 'r')
    try {
      readSync(opened, begins, 0, begins.length, 0)
    } finally {
      closeSync(opened)
    }
    if (BEGINNING.every((byte, i) => begins[i] === byte)) return file
    faults.push('EVENT_MAP_TILES: is not a PMTiles archive (version 3)')
  } catch (error) {
    faults.push(`EVENT_MAP_TILES: ${String(error)}`)
  }
  return null
}
