/** A pilgrim's progress, and its description on a link's page. */
import { expect, test } from 'bun:test'
import { BuiltInLanguage, type Language } from '#shared/contracts/bot.ts'
import { type Fix, progressOf, shownWay } from '#services/feedback-media/shares/progress.ts'
import { liveMap, liveNext, liveState, shareTexts } from '#services/feedback-media/shares/share-page.ts'
import type { ShareView } from '#services/feedback-media/shares/read-share.ts'
import { PAGE_WORDS } from '#shared/locales/by-language.ts'
import { createRoute, type Station } from '#shared/core/map/walking-route.ts'
import { LEVELS } from '#shared/core/rules/levels.ts'

const MINUTE = 60_000
const NOW = Date.parse('2026-04-12T04:00:00Z')
/** Twenty kilometres northward. */
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
/** Walks at 4.5 km/h for these minutes, ending at `endMs`, starting at a distance along the route. */
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
  // 6 km at 4.5 km/h take 80 minutes.
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
  message: null,
  messages: null,
  live: { untilMs: NOW + 60 * MINUTE, progress: progressOf(line, { route, stations }, NOW), line },
})

test.each(BuiltInLanguage.options)('the page says each state in %s', (language) => {
  const texts = shareTexts(language, { event: 'E', name: null, timeZone: 'Asia/Taipei', nowMs: NOW })
  const { words } = texts
  const now = viewOf(walking(40, NOW - MINUTE))
  expect(liveState(now, texts)).toContain(words.now)
  expect(liveState(now, texts)).toContain('13:00')
  expect(liveNext(now, texts)).toContain(words.estimate)
  expect(liveNext(now, texts)).toContain(language === 'en' ? '北 temple' : '北')
  expect(liveState(now, texts)).toContain(words.ago(words.minutes(1)))
  const map = liveMap(now, texts)
  for (const part of ['data-heard="true"', PAGE_WORDS[language].mapSource, PAGE_WORDS[language].closer])
    expect(map).toContain(part)
  expect(map).not.toMatch(/NaN|Infinity|undefined|null/)
  const silent = viewOf(walking(40, NOW - 100 * MINUTE))
  expect(liveState(silent, texts)).toContain(words.lastHeard(words.hours(1, 40)))
  expect(liveState(silent, texts)).toContain(words.silence)
  expect(liveMap(silent, texts)).toContain('data-heard="false"')
  expect(liveNext(silent, texts)).toContain(words.unknownArrival)
  const rests = viewOf(resting(20, NOW, 4_500))
  expect(liveState(rests, texts)).toContain(words.resting('11:40'))
  const nothing = viewOf([])
  expect(liveState(nothing, texts)).toContain(words.placeAppears)
  expect(liveMap(nothing, texts) + liveNext(nothing, texts)).toBe('')
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

test('the map gets the line without times, no more exact than a small picture, and the exact place of the end alone', () => {
  // Noise of some metres at each point.
  const noisy = walking(200, NOW, 500).map((fix, i) => ({ ...fix, lng: fix.lng + (i % 3) * 2e-5 }))
  const { line } = shownWay(noisy, [null, null])
  // 15 km in a picture 450 pixels high: 33 m for each.
  expect(line.length).toBeLessThan(10)
  const last = noisy.at(-1)!
  expect(line.at(-1)).toEqual([Number(last.lng.toFixed(5)), Number(last.lat.toFixed(5))])
  expect(line.every((place) => place.length === 2)).toBe(true)
  // Starts within five metres of each other are the same place, or adjacent ones.
  const begun = Array.from({ length: 20 }, (_, i) => {
    const [first, ...rest] = walking(200, NOW, 500)
    const [told] = shownWay([{ ...first!, lat: first!.lat + (i * 0.25) / 111_195 }, ...rest], []).line
    return String(told)
  })
  expect(new Set(begun).size).toBeLessThanOrEqual(2)
  // A pilgrim at rest is one place: the phone's noise is not revealed.
  const still = resting(30, NOW, 4_500).map((fix, i) => ({ ...fix, lng: fix.lng + (i % 2) * 1e-5 }))
  expect(
    shownWay(
      still.map((fix) => ({ ...fix, lat: still[0]!.lat })),
      [null, null],
    ).line,
  ).toHaveLength(2)
})

test('the map shows the pilgrim and the stations around who are near, or the whole line', () => {
  const line = walking(40, NOW, 3_000)
  const [here, south, north] = [line.at(-1)!, ...stations].map(({ lng, lat }) => [
    Number(lng.toFixed(5)),
    Number(lat.toFixed(5)),
  ])
  expect(shownWay(line, stations as [Station, Station]).fit).toEqual([here, south, north] as never)
  const far = { lat: 25, lng: 121 }
  expect(shownWay(line, [stations[0]!, far]).fit).toEqual([here, south] as never)
  const alone = shownWay(line, [far, null])
  expect(alone.fit).toEqual(alone.line)
  const one = shownWay(line.slice(-1), [null, null])
  expect(one).toEqual({ line: [here], fit: [here] } as never)
})
