/** The share cards' design: light enough for a chat's preview. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { cardOf } from '#services/feedback-media/cards/card-layout.ts'
import { routeOf } from '#tests/tools/bench/cards/sample.ts'
import { figures } from '#services/feedback-media/cards/card-layout.ts'
import { carbonIn } from '#shared/locales/units.ts'
import { openRenderer, type Renderer } from '#shared/runtime/picture-renderer/renderer.ts'
import { CARD_SIZE } from '#shared/contracts/cards.ts'
import { LEVELS } from '#shared/core/rules/levels.ts'

/** Chats load a preview on mobile networks. */
const MAX_BYTES = 200_000

let renderer: Renderer
beforeAll(() => void (renderer = openRenderer({ timeoutMs: 60_000 })))
afterAll(() => renderer?.close())

describe('cards', () => {
  for (const level of LEVELS)
    test(`of level ${level.level} are at most ${MAX_BYTES} bytes`, async () => {
      for (const unlocked of [false, true]) {
        const facts = {
          eventName: '白沙屯媽祖徒步進香',
          eventDays: '2026.4.12–4.20',
          displayName: '林美玉 🌸 Žofie Ångström',
          language: 'zh-Hant' as const,
          pilgrimWord: '香客',
          level,
          levelName: level.zh,
          km: level.minKm + 8.88,
          checkins: level.minCheckins,
          carbonSavedKg: 88.888,
          unlocked,
        }
        const png = await renderer.renderPng(cardOf(facts, routeOf(4)), CARD_SIZE)
        expect({ unlocked, light: png.length <= MAX_BYTES, bytes: png.length }).toMatchObject({ light: true })
      }
    })
})

test('the carbon on a card is written as on the pages: grams below a kilogram', () => {
  const card = (carbonSavedKg: number) =>
    JSON.stringify(figures({ km: 8.88, checkins: 3, carbonSavedKg, language: 'en' }))
  for (const kg of [0, 0.382, 4.678, 88.888, 1_234.5]) {
    const { figure, unit } = carbonIn('en', kg)
    expect(card(kg)).toContain(`"${figure} ${unit}"`)
  }
})
