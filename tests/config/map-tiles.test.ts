/** The archive of map tiles is checked when the service starts, not at the first request. */
import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readMapTiles } from '#shared/runtime/config/setting-values.ts'
import { readConfig } from '#shared/runtime/config/config.ts'

test('an archive of PMTiles is taken, anything else is a fault', () => {
  const directory = mkdtempSync(join(tmpdir(), 'event-tiles-'))
  try {
    const file = (name: string, content: string): string => {
      writeFileSync(join(directory, name), content)
      return join(directory, name)
    }
    const archive = file('map.pmtiles', 'PMTiles\u0003 and more')
    expect(readConfig({ EVENT_MAP_TILES: archive }).mapTiles).toBe(archive)
    expect(readConfig({}).mapTiles).toBeNull()
    const faults: string[] = []
    for (const wrong of [
      file('older.pmtiles', 'PMTiles\u0002 and more'),
      file('map.mbtiles', 'SQLite format 3'),
      file('empty.pmtiles', ''),
      join(directory, 'missing.pmtiles'),
      directory,
    ])
      expect(readMapTiles(wrong, faults)).toBeNull()
    expect(faults).toEqual([
      ...Array<string>(3).fill('EVENT_MAP_TILES: is not a PMTiles archive (version 3)'),
      expect.stringContaining('EVENT_MAP_TILES: Error: ENOENT'),
      expect.stringContaining('EVENT_MAP_TILES: '),
    ])
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
})
