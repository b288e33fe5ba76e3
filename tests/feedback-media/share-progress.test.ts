/** How a pilgrim gets on, and how a page of a link says it. */
import { expect, test } from 'bun:test'
import { Language } from '#shared/contracts/bot.ts'
import { progressOf } from '#services/feedback-media/shares/progress.ts'
import { liveMap, liveNext, liveState } from '#services/feedback-media/shares/live-part.ts'
import type { ShareView } from '#services/feedback-media/shares/read-share.ts'
import type { Fix } from '#services/feedback-media/shares/read-way.ts'
import { shareTexts } from '#services/feedback-media/shares/share-format.ts'
import { STYLE } from '#services/feedback-media/shares/share-style.ts'
import { createRoute, type Station } from '#shared/map/walking-route.ts'
import { LEVELS } from '#shared/rules/levels.ts'

const MINUTE = 60_000
const NOW = Date.parse('2026-04-12T04:00:00Z')
/** Twenty kilometres to the north. */
const route = createRoute([
  [
    { lat: 24, lng: 120.6 },
    { lat: 24 + 20_000 / 111_195, lng: 120.6 },
  ],
])
const station = (name: string, alongM: number): Station => ({
  name,
  names: { en: `${name} temple` },
  alongM,
  ...route.at(alongM),
})
const stations = [station('南', 1_000), station('北', 12_000)]
/** Walks at 4.5 km/h for these minutes, until `endMs`, from a distance along the route. */
const walking = (minutes: number, endMs: number, fromM = 3_000): Fix[] =>
  Array.from({ length: minutes + 1 }, (_, i) => ({
    ...route.at(fromM + i * 75),
    t: endMs - (minutes - i) * MINUTE,
  }))
const resting = (minutes: number, endMs: number, atM: number): Fix[] =>
  Array.from({ length: minutes + 1 }, (_, i) => {
    const { lat, lng } = route.at(atM)
    return { lat: lat + (i % 2) * 5e-5, lng, t: endMs - (minutes - i) * MINUTE }
  })

test('a walking pilgrim has a speed, a place on the route, and a time at the next station', () => {
  const progress = progressOf(walking(40, NOW - MINUTE), { route, stations }, NOW)!
  expect(progress).toMatchObject({ isHeard: true, silentMs: MINUTE, restsSinceMs: null, speedKmh: 4.5 })
  expect(progress.alongKm).toBeCloseTo(6, 1)
  expect(progress.next!.station.name).toBe('北')
  // 6 km at 4.5 km/h are 80 minutes.
  expect((progress.next!.expectedMs! - NOW) / MINUTE).toBeWithin(78, 80.5)
})

test('no time is estimated for a pilgrim who rests or is silent, off the route, or without one', () => {
  const rests = [...walking(20, NOW - 21 * MINUTE), ...resting(20, NOW, 4_500)]
  const atRest = progressOf(rests, { route, stations }, NOW)!
  expect(atRest.restsSinceMs).toBeWithin(NOW - 22 * MINUTE, NOW - 19 * MINUTE)
  expect(atRest.next).toMatchObject({ expectedMs: null })
  const silent = progressOf(walking(40, NOW - 45 * MINUTE), { route, stations }, NOW)!
  expect(silent).toMatchObject({ isHeard: false, silentMs: 45 * MINUTE, next: { expectedMs: null } })
  const away = walking(40, NOW).map((fix) => ({ ...fix, lng: fix.lng + 0.1 }))
  expect(progressOf(away, { route, stations }, NOW)).toMatchObject({ alongKm: null, next: null })
  expect(progressOf(walking(40, NOW), { route: null, stations: [] }, NOW)).toMatchObject({ next: null })
  expect(progressOf(walking(5, NOW), { route, stations }, NOW)!.speedKmh).toBeNull()
  expect(progressOf([], { route, stations }, NOW)).toBeNull()
  // Past the last station there is no next one.
  expect(progressOf(walking(40, NOW, 12_500), { route, stations }, NOW)!.next).toBeNull()
})

const viewOf = (line: readonly Fix[]): ShareView => ({
  name: null,
  level: LEVELS[0]!,
  km: 1,
  checkins: 2,
  savedKg: 0.4,
  unlocked: false,
  incomplete: false,
  status: 'active',
  live: { untilMs: NOW + 60 * MINUTE, progress: progressOf(line, { route, stations }, NOW), line },
})

test.each(Language.options)('the page says each state in %s', (language) => {
  const texts = shareTexts(language, { event: 'E', name: null, timeZone: 'Asia/Taipei', nowMs: NOW })
  const { words } = texts
  const now = viewOf(walking(40, NOW - MINUTE))
  expect(liveState(now, texts)).toContain(words.now)
  expect(liveState(now, texts)).toContain('13:00')
  expect(liveNext(now, texts)).toContain(words.estimate)
  expect(liveNext(now, texts)).toContain(language === 'en' ? '北 temple' : '北')
  expect(liveState(now, texts)).toContain(words.ago(words.minutes(1)))
  const map = liveMap(now, texts, { route, stations })
  for (const part of ['class="walked"', 'class="route"', 'class="pulse"', 'class="scale"'])
    expect(map).toContain(part)
  expect(map).not.toMatch(/NaN|Infinity|undefined/)
  const silent = viewOf(walking(40, NOW - 100 * MINUTE))
  expect(liveState(silent, texts)).toContain(words.lastHeard(words.hours(1, 40)))
  expect(liveState(silent, texts)).toContain(words.silence)
  expect(liveMap(silent, texts, { route, stations })).not.toContain('pulse')
  expect(liveNext(silent, texts)).toContain(words.unknownArrival)
  const rests = viewOf(resting(20, NOW, 4_500))
  expect(liveState(rests, texts)).toContain(words.resting('11:40'))
  const nothing = viewOf([])
  expect(liveState(nothing, texts)).toContain(words.nothingYet)
  expect(liveMap(nothing, texts, { route, stations }) + liveNext(nothing, texts)).toBe('')
  const days = shareTexts(language, { event: 'E', name: null, timeZone: 'Asia/Taipei', nowMs: NOW })
  expect(days.ago(3 * 1_440 * MINUTE)).toBe(words.days(3))
})

test('each level has its name in the characters of each language', () => {
  const names = (language: Language) => {
    const texts = shareTexts(language, { event: 'E', name: null, timeZone: 'Asia/Taipei', nowMs: NOW })
    return LEVELS.map((level) => texts.level(level))
  }
  expect(names('zh-Hant')).toEqual(LEVELS.map(({ zh }) => zh))
  expect(names('en')).toEqual(LEVELS.map(({ en }) => en))
  for (const language of ['zh-Hans', 'ja'] as const) {
    expect(new Set(names(language)).size).toBe(LEVELS.length)
    expect(names(language).join('')).not.toMatch(/[氣虛]/)
  }
  expect([names('zh-Hans')[0], names('ja')[0]]).toEqual(['炼气香客', '煉気香客'])
})

test('a map of one place, and one across the whole route, have a scale and stay in the picture', () => {
  const texts = shareTexts('en', { event: 'E', name: null, timeZone: 'Asia/Taipei', nowMs: NOW })
  for (const [line, scale] of [
    [resting(0, NOW, 4_500), '1 km'],
    [walking(220, NOW, 100), '5 km'],
  ] as const) {
    const map = liveMap(viewOf(line), texts, { route, stations })
    expect(map).toContain(`>${scale}</text>`)
    const [, x, y] = /class="here" cx="([\d.-]+)" cy="([\d.-]+)"/.exec(map)!
    expect(Number(x)).toBeWithin(20, 620)
    expect(Number(y)).toBeWithin(20, 480)
  }
})

test('the page has the colours of all pages', async () => {
  const tokens = await Bun.file(new URL('../../proxy/pages/design/tokens.css', import.meta.url)).text()
  const colours = (css: string) =>
    new Map([...css.matchAll(/(--[\w-]+):\s*(#[0-9a-f]{6})\b/g)].map(([, n, v]) => [n!, v!]))
  const split = (css: string) =>
    css
      .split(":root[data-theme='dark']")[0]!
      .split(/@media\s*(?:screen\s*and\s*)?\(prefers-color-scheme:\s*dark\)/)
  const [light, dark] = split(tokens).map(colours)
  const [ownLight, ownDark] = split(STYLE).map(colours)
  expect(ownLight!.size).toBeGreaterThan(15)
  for (const [name, value] of ownLight!) expect([name, light!.get(name)]).toEqual([name, value])
  for (const [name, value] of ownDark!) expect([name, dark!.get(name)]).toEqual([name, value])
})
