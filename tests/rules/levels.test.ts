import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { LEVELS, levelNames, levelOf, nextLevel } from '#shared/core/rules/levels.ts'
import { roundKm } from '#shared/core/rules/rounding.ts'

/** The specification's "Level table", as printed. */
const TABLE = `
| 1 | 煉氣香客 | Qi Refining Pilgrim | 0 | 1 | 🔥 |
| 2 | 築基香客 | Foundation Pilgrim | 15 | 5 | 🧱 |
| 3 | 金丹香客 | Golden Core Pilgrim | 45 | 10 | 💛 |
| 4 | 元嬰香客 | Nascent Soul Pilgrim | 90 | 15 | 👶 |
| 5 | 化神香客 | Spirit Pilgrim | 135 | 20 | ✨ |
| 6 | 煉虛香客 | Void Pilgrim | 180 | 25 | 🌀 |
| 7 | 合體香客 | Unity Pilgrim | 225 | 30 | 🤝 |
| 8 | 大乘香客 | Mahayana Pilgrim | 270 | 35 | 🏆 |
| 9 | 飛升香客 | Ascended Pilgrim | 300 | 40 | 🚀 |`
  .trim()
  .split('\n')
  .map((line) => {
    const [level, zh, en, km, checkins, icon] = line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim())
    return { level: Number(level), zh: zh!, en: en!, km: Number(km), checkins: Number(checkins), icon: icon! }
  })

const MM_PER_KM = 1_000_000

const distances = fc.oneof(
  fc.nat({ max: 400 * MM_PER_KM }),
  fc.constantFrom(...TABLE.flatMap(({ km }) => [km * MM_PER_KM, Math.max(0, km * MM_PER_KM - 1)])),
)
const checkinCounts = fc.nat({ max: 50 })

test('nine rows', () => {
  expect(LEVELS).toHaveLength(9)
})

describe.each(TABLE)('level $level', ({ level, zh, en, km, checkins, icon }) => {
  const below = Math.max(1, level - 1)

  test('is reached by both minima together, and is named as the table names it', () => {
    expect(levelOf(km * MM_PER_KM, checkins)).toMatchObject({ level, zh, en, icon })
  })

  test('is not reached one check-in short', () => {
    expect(levelOf(km * MM_PER_KM, checkins - 1).level).toBe(below)
  })

  test('is not passed by one of the two alone', () => {
    const next = TABLE[level]
    if (next === undefined) {
      expect(levelOf(1_000 * MM_PER_KM, 1_000).level).toBe(level)
    } else {
      expect(levelOf(1_000 * MM_PER_KM, next.checkins - 1).level).toBe(level)
      expect(levelOf(next.km * MM_PER_KM - 1, 1_000).level).toBe(level)
    }
  })
})

test.each(TABLE.slice(1))('level $level is not reached one millimetre short', ({ level, km, checkins }) => {
  expect(levelOf(km * MM_PER_KM - 1, checkins).level).toBe(level - 1)
})

test('someone without a check-in holds level 1', () => {
  expect(levelOf(0, 0).level).toBe(1)
  expect(levelOf(400 * MM_PER_KM, 0).level).toBe(1)
})

test('the scan of the specification, from 9 down to 1', () => {
  fc.assert(
    fc.property(distances, checkinCounts, (mm, checkins) => {
      const first = TABLE.toReversed().find((row) => mm >= row.km * MM_PER_KM && checkins >= row.checkins)
      expect(levelOf(mm, checkins).level).toBe(first?.level ?? 1)
    }),
    { numRuns: 1_000 },
  )
})

describe('what the next level needs', () => {
  test.each([
    ['nothing walked yet', 0, 0, { level: 2, km_needed: 15, checkins_needed: 5 }],
    ['check-ins missing', 15, 4, { level: 2, km_needed: 0, checkins_needed: 1 }],
    ['distance missing', 14.5, 40, { level: 2, km_needed: 0.5, checkins_needed: 0 }],
    ['only the very next one counts', 200, 6, { level: 3, km_needed: 0, checkins_needed: 4 }],
    ['one millimetre', 44.999999, 10, { level: 3, km_needed: 0.01, checkins_needed: 0 }],
    ['one millimetre more than ten metres', 44.989999, 10, { level: 3, km_needed: 0.02, checkins_needed: 0 }],
    ['just below the top', 299, 39, { level: 9, km_needed: 1, checkins_needed: 1 }],
    ['the top', 300, 40, null],
    ['beyond the top', 1_000, 100, null],
  ] as const)('%s', (_, km, checkins, needed) => {
    expect(nextLevel(Math.round(km * MM_PER_KM), checkins)).toEqual(needed)
  })

  test('a pilgrim who fulfils both reaches the level, and one who lacks either does not', () => {
    fc.assert(
      fc.property(distances, checkinCounts, (mm, checkins) => {
        const next = nextLevel(mm, checkins)
        if (next === null) return expect(levelOf(mm, checkins).level).toBe(9)
        const neededMm = Math.round(next.km_needed * MM_PER_KM)
        expect(next.level).toBe(levelOf(mm, checkins).level + 1)
        expect(levelOf(mm + neededMm, checkins + next.checkins_needed).level).toBeGreaterThanOrEqual(
          next.level,
        )
        if (next.checkins_needed > 0)
          expect(levelOf(mm + neededMm, checkins + next.checkins_needed - 1).level).toBeLessThan(next.level)
        // Rounded up to ten metres.
        if (next.km_needed > 0)
          expect(levelOf(mm + neededMm - 10_000, checkins + next.checkins_needed).level).toBeLessThan(
            next.level,
          )
      }),
      { numRuns: 1_000 },
    )
  })
})

/** Displayed kilometres in hundredths, whose sums are exact. */
const hundredths = (km: number): number => Math.round(km * 100)

test('the shown distance and the needed distance together are the next level’s distance', () => {
  fc.assert(
    fc.property(distances, checkinCounts, (mm, checkins) => {
      const shown = roundKm(mm)
      expect(hundredths(shown) / 100).toBe(shown)
      // Looking the displayed distance up in the table gives the same level.
      expect(levelOf(shown * MM_PER_KM, checkins)).toBe(levelOf(mm, checkins))
      const next = nextLevel(mm, checkins)
      if (next === null) return
      const minimum = hundredths(TABLE[next.level - 1]!.km)
      expect(hundredths(shown) + hundredths(next.km_needed)).toBe(
        next.km_needed === 0 ? Math.max(minimum, hundredths(shown)) : minimum,
      )
      expect(next.km_needed === 0).toBe(hundredths(shown) >= minimum)
    }),
    { numRuns: 2_000 },
  )
})

test.each([
  ['the reader’s language', { en: 'Stroller', ja: 'さんぽ' }, 'ja', 'en', 'さんぽ'],
  ['the other Chinese', { 'zh-Hant': '漫步者', en: 'Stroller' }, 'zh-Hans', 'en', '漫步者'],
  ['the event’s own language', { en: 'Stroller' }, 'ja', 'en', 'Stroller'],
  ['the default, if the event’s own language has none', { en: 'Stroller' }, 'ja', 'zh-Hant', 'default'],
  ['the default', {}, 'en', 'en', 'default'],
] as const)('a level has its name in %s', (_, own, reader, event, name) => {
  const defaults = LEVELS.map(() => 'default')
  expect(levelNames([own], defaults, reader, event)).toEqual([name, ...defaults.slice(1)])
  expect(levelNames(null, defaults, reader, event)).toEqual(defaults)
})
