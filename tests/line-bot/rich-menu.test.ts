/** The areas of the rich menu. */
import { describe, expect, test } from 'bun:test'
import { designMenu } from '#services/line-bot/bot/rich-menu.ts'
import { serviceWords } from '#shared/locales/by-language.ts'
import { BuiltInLanguage } from '#shared/contracts/bot.ts'

const EVENT = {
  language: 'zh-Hant',
  languages: BuiltInLanguage.options,
  wordsFor: serviceWords({}),
}

describe('rich menu', () => {
  test.each(BuiltInLanguage.options)('every place of the picture in %s belongs to one area', (language) => {
    const { size, areas } = designMenu(language, EVENT).request
    const [width, height] = [size!.width!, size!.height!]
    const bounds = areas!.map((area) => area.bounds as Required<NonNullable<typeof area.bounds>>)
    const areasAt = (x: number, y: number): number[] =>
      bounds.flatMap((at, i) =>
        x >= at.x && x < at.x + at.width && y >= at.y && y < at.y + at.height ? [i] : [],
      )
    const across = Array.from({ length: width }, (_, x) => [x, 10] as const)
    const down = Array.from({ length: height }, (_, y) => [width - 1, y] as const)
    expect([...across, ...down].filter(([x, y]) => areasAt(x, y).length !== 1)).toEqual([])
    // By row, three tiles each.
    const middles = [0, 1].flatMap((row) => [0, 1, 2].map((column) => [column, row] as const))
    const found = middles.map(([column, row]) =>
      areasAt((width * (column + 0.5)) / 3, (height * (row + 0.5)) / 2),
    )
    expect(found).toEqual([[0], [1], [2], [3], [4], [5]])
    expect(new Set(areas!.map(({ action }) => JSON.stringify(action))).size).toBe(6)
  })
})
