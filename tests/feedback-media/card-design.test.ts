/** The share cards' design: light enough for a chat's preview, and a map with true distances. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { cardOf } from '#services/feedback-media/card-design/card.ts'
import { outlineOf, roundLength } from '#services/feedback-media/card-design/track-outline.ts'
import { figures } from '#services/feedback-media/card-design/parts.ts'
import { carbonIn } from '#shared/locales/carbon.ts'
import { openRenderer, type Renderer } from '#shared/picture-renderer/renderer.ts'
import { CARD_SIZE } from '#shared/contracts/cards.ts'
import { LEVELS } from '#shared/rules/levels.ts'

/** Chats load a preview on mobile networks. */
const MAX_BYTES = 200_000

/** A winding track to the south: 300 positions, about 200 m apart. */
const WAY = Array.from({ length: 300 }, (_, i) => ({
  lat: 24.5 - i * 0.0018,
  lng: 120.7 + Math.sin(i / 20) * 0.03 + Math.sin(i / 7) * 0.004,
}))

let renderer: Renderer
beforeAll(() => void (renderer = openRenderer({ timeoutMs: 60_000 })))
afterAll(() => renderer.close())

describe('cards', () => {
  for (const level of LEVELS)
    test(`of level ${level.level} are at most ${MAX_BYTES} bytes`, async () => {
      const next = LEVELS[level.level] ?? null
      for (const unlocked of [false, true]) {
        const facts = {
          eventName: '白沙屯媽祖徒步進香 2026',
          displayName: '林美玉 🌸 Žofie Ångström',
          language: 'zh-TW',
          level,
          next,
          km: level.minKm + 8.88,
          checkins: level.minCheckins,
          carbonSavedKg: 88.888,
          progress: 0.6,
          kmNeeded: next === null ? 0 : next.minKm - level.minKm - 8.88,
          checkinsNeeded: next === null ? 0 : next.minCheckins - level.minCheckins,
          unlocked,
        }
        const png = await renderer.renderPng(cardOf(facts, WAY), CARD_SIZE)
        expect({ unlocked, light: png.length <= MAX_BYTES, bytes: png.length }).toMatchObject({ light: true })
      }
    })
})

test('the carbon on a card is written as on the pages: grams below a kilogram', () => {
  const card = (carbonSavedKg: number) => JSON.stringify(figures({ km: 8.88, checkins: 3, carbonSavedKg }))
  for (const kg of [0, 0.382, 4.678, 88.888, 1_234.5]) {
    const { figure, unit } = carbonIn('en', kg)
    expect(card(kg)).toContain(`"${figure}"`)
    expect(card(kg)).toContain(`"${unit} CO₂"`)
  }
})

describe('the map on a card', () => {
  test('has waymarks at equal distances along a straight track, none at its end', () => {
    const straight = [
      { lat: 24, lng: 120 },
      { lat: 24 - 10_000 / 111_195, lng: 120 },
    ]
    const { start, waymarks, pxPerM } = outlineOf(straight, 250)!
    expect(pxPerM).toBeCloseTo(250 / 10_000, 6)
    expect(waymarks.map(({ y }) => Math.round((y - start.y) / pxPerM))).toEqual([2_000, 4_000, 6_000, 8_000])
  })

  test('has four to ten waymarks on a winding track', () => {
    const { waymarks } = outlineOf(WAY, 250)!
    expect(waymarks.length).toBeGreaterThanOrEqual(3)
    expect(waymarks.length).toBeLessThanOrEqual(10)
  })

  test('rounds lengths down to 1, 2 or 5 times a power of ten', () => {
    const lengths = [0.3, 1, 1.9, 2, 4.99, 5, 9.9, 10, 1_234, 50_000]
    expect(lengths.map(roundLength).map((value) => Number(value.toPrecision(6)))).toEqual([
      0.2, 1, 1, 2, 2, 5, 5, 10, 1_000, 50_000,
    ])
  })
})
