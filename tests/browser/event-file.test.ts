/**
 * A settings file is read from an archive or alone; other files, and those of a newer release, are
 * identified.
 */
import { describe, expect, test } from 'bun:test'
import { strToU8, zipSync } from 'fflate'
import {
  readSettingsFile,
  settingsFileOf,
  withStoredDates,
} from '#proxy/pages/console/views/lifecycle/event-file.ts'

const NOW = Date.parse('2026-11-28T00:00:00Z')
const PAST = '2026-07-21T02:00:00.000Z'
const FUTURE = '2027-07-20T02:00:00.000Z'
const STATION = { lat: 52, lng: 5.8, names: { en: 'Start' }, km: null }
const PARTS = {
  name: { names: { en: 'Four Days' }, starts_at: PAST, ends_at: FUTURE },
  route: { lines: [], stations: [{ ...STATION, planned_at: PAST }], margin_km: null },
  contact: { emergency_number: '112', organiser_phone: null },
  notice: { organiser: 'Org', contact: null, kept_until: PAST, texts: {} },
  languages: { language: 'en', languages: ['en'] },
  words: { followed: 'walk', level_names: [] },
  survey: { questions: [] },
  messages: { welcome: {}, share: {}, about: {}, summaryTitle: {} },
}
const settings = Object.fromEntries(Object.entries(PARTS).map(([part, value]) => [part, { value }]))
const FILE = settingsFileOf(settings as never, 'Europe/Amsterdam', PAST)
const zipped = (name: string, text: string) => zipSync({ [name]: strToU8(text), 'other.csv': strToU8('a') })
const read = (content: string | Uint8Array<ArrayBuffer>) => readSettingsFile(new Blob([content]), NOW)
const changed = (change: object) => JSON.stringify({ ...(JSON.parse(FILE) as object), ...change })

describe('a settings file', () => {
  test.each([
    ['by itself', FILE],
    ['in an archive', zipped('settings.json', FILE)],
  ])('%s has every part, without the dates that are over', async (_, content) => {
    const found = await read(content)
    if (typeof found === 'string') throw new Error(found)
    expect(found.timeZone).toBe('Europe/Amsterdam')
    expect(Object.fromEntries(found.parts)).toEqual({
      ...PARTS,
      name: { ...PARTS.name, starts_at: null },
      route: { ...PARTS.route, stations: [{ ...STATION, planned_at: null }] },
      notice: { ...PARTS.notice, kept_until: null },
    })
  })

  test('keeps the stored dates in place of those that are over', () => {
    const given = { names: { en: 'Next' }, starts_at: null, ends_at: FUTURE, emergency_number: null }
    const stored = { names: { en: 'Four Days' }, starts_at: NOW, ends_at: null, emergency_number: '112' }
    expect(withStoredDates(given, stored)).toEqual({ ...given, starts_at: NOW })
    expect(withStoredDates(given, {})).toEqual(given)
  })

  test.each([
    ['damaged', ''],
    ['damaged', FILE.slice(0, -20)],
    ['damaged', zipped('settings.json', FILE).subarray(0, 200)],
    ['foreign', zipped('doc.kml', FILE)],
    ['foreign', 'null'],
    ['foreign', '[]'],
    ['foreign', '{"type":"FeatureCollection","features":[]}'],
    ['foreign', changed({ event_settings: 'x' })],
    ['foreign', changed({ event_settings: 0 })],
    ['foreign', changed({ parts: [] })],
    ['foreign', changed({ parts: { name: 1, unknown: {} } })],
    ['foreign', '{"__proto__":{"event_settings":1,"parts":{"name":{}}}}'],
    ['newer', changed({ event_settings: 2 })],
    ['too-large', FILE + ' '.repeat(2 * 1024 * 1024)],
    ['too-large', zipped('settings.json', FILE + ' '.repeat(2 * 1024 * 1024))],
  ] as const)('that is none is %s (%#)', async (fault, content) => {
    expect(await read(content as string)).toBe(fault)
  })
})
