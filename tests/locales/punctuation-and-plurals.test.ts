/** Every sentence has the punctuation of its language, and every count the right plural form. */
import { describe, expect, test } from 'bun:test'
import { Glob } from 'bun'

const FOLDER = new URL('../../shared/locales/', import.meta.url).pathname
const LANGUAGES = ['en', 'ja', 'zh-hant', 'zh-hans'] as const
const COUNTS = [0, 1, 2, 5, 21]

type Sentence = readonly [where: string, said: (value: number) => string]

/** Every sentence below a value of a module, with all its parameters set to the same number. */
function sentencesOf(where: string, value: unknown): Sentence[] {
  if (typeof value === 'string') return [[where, () => value]]
  if (typeof value === 'function')
    return [
      [where, (number) => String((value as (...given: unknown[]) => unknown)(...Array(8).fill(number)))],
    ]
  return Object.entries(value as object).flatMap(([name, part]) => sentencesOf(`${where}.${name}`, part))
}

async function wordsOf(language: string): Promise<Sentence[]> {
  const files = [...new Glob('*.ts').scanSync(FOLDER + language)].filter(
    (name) => !/^(count|place-characters)\.ts$/.test(name),
  )
  expect(files.length).toBeGreaterThan(5)
  const modules = await Promise.all(files.map((name) => import(`${FOLDER}${language}/${name}`)))
  return modules.flatMap((module, i) => sentencesOf(files[i]!, module))
}

/** A singular count with a plural noun or vice versa, for nouns that the sentences count. */
const ONE_OF_MANY =
  /(?<![\d.,#])1[ \u00a0](?:(?:more|chosen|stored|dead|hotel|water|achievement) )*(?:[a-z-]{2,}[^s]s|people)\b(?<! (?:has|was|goes|this|records|counts|reaches))/i
const MANY_OF_ONE =
  /(?<![\d.,#])(?:0|2|5|21)[ \u00a0](?:(?:more|chosen|stored|dead) )*(?:check-in|minute|hour|day|second|pilgrim|person|point|station|photo|time|question|survey|answer|reminder|message|device|card|row|menu|recipient|name)\b(?!-)/i

describe('English', () => {
  test('has no punctuation of Chinese or Japanese', async () => {
    for (const [where, said] of await wordsOf('en'))
      expect([where, said(2)]).toEqual([
        where,
        expect.not.stringMatching(/[\u3000-\u303f\u30fb\uff00-\uffef]/),
      ])
  })

  test('has the form of the noun for every count', async () => {
    const wrong: string[] = []
    for (const [where, said] of await wordsOf('en'))
      for (const number of COUNTS)
        if ((number === 1 ? ONE_OF_MANY : MANY_OF_ONE).test(said(number)))
          wrong.push(`${where}: ${said(number)}`)
    expect([...new Set(wrong)]).toEqual([])
  })
})

test.each(['ja', 'zh-hant', 'zh-hans'])(
  '%s has full-width punctuation beside its characters',
  async (language) => {
    const half =
      /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}」”][:;,?!()](?!\/)|[:;,?!()][\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u
    for (const [where, said] of await wordsOf(language))
      for (const number of COUNTS)
        expect([where, said(number)]).toEqual([where, expect.not.stringMatching(half)])
  },
)

test('no sentence lacks a value, in any language', async () => {
  for (const language of LANGUAGES)
    for (const [where, said] of await wordsOf(language))
      for (const number of COUNTS)
        expect([where, said(number)]).toEqual([where, expect.not.stringMatching(/undefined|NaN|\[object/)])
})

test('pages and services take punctuation from the words', async () => {
  const folder = new URL('../../', import.meta.url).pathname
  const files = [
    ...new Glob('proxy/pages/{map,walk,console,frame,design}/**/*.{ts,tsx}').scanSync(folder),
    ...new Glob('services/{line-bot,feedback-media}/{bot,shares,sending,web-push}/*.ts').scanSync(folder),
  ]
  expect(files.length).toBeGreaterThan(100)
  const found: string[] = []
  for (const file of files) {
    const text = await Bun.file(folder + file).text()
    // A value, a colon and a value: every language has its own colon.
    for (const [part] of text.matchAll(
      /.*([\u3001-\u3011\uff01-\uff0f\uff1a-\uff1f]|\$\{[^}]*\}: \$\{|\}: (\{[^}]*\}<|\{[a-z]+\(|<)).*/gi,
    ))
      found.push(`${file}: ${part.trim()}`)
  }
  expect(found).toEqual([])
})
