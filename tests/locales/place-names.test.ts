/**
 * A place has the same name everywhere on a map: Japanese uses Taiwan's spelling (`placeName`), for stations
 * as well as towns.
 */
import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'

interface Station {
  readonly properties: { readonly name?: string; readonly name_ja?: string }
}

test('the stations of the demo have the same Japanese names as the towns around them', () => {
  const path = new URL('../tools/crowd/route.geojson', import.meta.url)
  const { features } = JSON.parse(readFileSync(path, 'utf8')) as { features: readonly Station[] }
  const other = features.filter(({ properties: { name, name_ja: ja } }) => ja !== undefined && ja !== name)
  expect(features.length).toBeGreaterThan(30)
  expect(other.map(({ properties }) => properties)).toEqual([])
})
