/** The recovery code: the pilgrim's id as twelve words. */
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { BuiltInLanguage } from '#shared/contracts/bot.ts'
import { isAppId, UserId } from '#shared/contracts/fields.ts'
import { appIdOf, bytesOfAppId } from '#shared/core/rules/app-id.ts'
import { newAppId } from '#proxy/pages/walk/recovery/app-id.ts'
import { allWordlists, idOfCode, wordlistOf, wordsOf } from '#proxy/pages/walk/recovery/recovery-code.ts'

const lists = await allWordlists()
const bytes = fc.uint8Array({ minLength: 16, maxLength: 16 })

test('an id is 128 bits, and is what the service accepts as an id that nobody can guess', () => {
  fc.assert(
    fc.property(bytes, (given) => {
      const id = appIdOf(given)
      expect(bytesOfAppId(id)).toEqual(given)
      expect(isAppId(id)).toBe(true)
      expect(UserId.parse(id)).toBe(id)
    }),
  )
  expect(newAppId()).not.toBe(newAppId())
})

test.each(['U0123456789abcdef', `w-8${'0'.repeat(25)}`, `w-${'u'.repeat(26)}`, 'w-'])(
  '%s has no code',
  (id) => {
    expect(bytesOfAppId(id)).toBeNull()
    expect(wordsOf(id, lists[0]!)).toBeNull()
  },
)

describe.each(BuiltInLanguage.options)('in %s', (language) => {
  test('twelve words give the id back, however they are typed', async () => {
    const list = await wordlistOf(language)
    fc.assert(
      fc.property(bytes, (given) => {
        const id = appIdOf(given)
        const words = wordsOf(id, list)!
        expect(words).toHaveLength(12)
        for (const separator of [' ', '\n', ',', '　', ' 1. ', '、'])
          expect(idOfCode(words.join(separator), lists)).toEqual({ id })
        expect(idOfCode(`  ${words.join('  ').toUpperCase()} `, lists)).toEqual({ id })
      }),
      { numRuns: 20 },
    )
  })

  test('a word that is missing, unknown or changed is told', async () => {
    const words = wordsOf(appIdOf(new Uint8Array(16).fill(7)), await wordlistOf(language))!
    expect(idOfCode(words.slice(1).join(' '), lists)).toEqual({ fault: 'count', words: 11 })
    const swapped = [...words]
    ;[swapped[0], swapped[11]] = [words[11]!, words[0]!]
    expect(idOfCode(swapped.join(' '), lists)).toEqual({ fault: 'checksum' })
  })
})

test('Chinese characters need no blanks, and English words four letters', async () => {
  const id = appIdOf(Uint8Array.from({ length: 16 }, (_, i) => i * 13))
  const chinese = wordsOf(id, await wordlistOf('zh-Hant'))!
  expect(idOfCode(chinese.join(''), lists)).toEqual({ id })
  const english = wordsOf(id, await wordlistOf('en'))!
  expect(idOfCode(english.map((word) => word.slice(0, 4)).join(' '), lists)).toEqual({ id })
  const misspelt = english.with(3, 'pilgrimage')
  expect(idOfCode(misspelt.join(' '), lists)).toEqual({ fault: 'word', word: 'pilgrimage', number: 4 })
})
