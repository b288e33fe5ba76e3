/** The words of a language that is not built in. A script of its own, which readers of such a language load. */
import type { Language } from '#shared/contracts/bot.ts'
import { translatedWords, type Translation } from '#shared/locales/further/translated-words.ts'

/** Not deleted by the service workers, which delete caches by the path of their page. */
const CACHE = 'translated-words'
const TIMEOUT_MS = 10_000
/** Until an open page asks for a newer translation, and for one that it could not read. */
const AGAIN_MS = 300_000
const RETRY_MS = 30_000

const addressOf = (language: Language): string => `/api/event/words/${language}`

const textOf = async (response: Response | undefined): Promise<string | null> =>
  response?.ok ? response.text() : null

/** Null: the browser keeps nothing. */
const openCache = (): Promise<Cache | null> =>
  'caches' in window ? caches.open(CACHE).catch(() => null) : Promise.resolve(null)

/** Reads the translation, and keeps it for a start without a network. @returns null without an answer */
async function readAnew(language: Language, cache: Cache | null): Promise<string | null> {
  try {
    const answer = await fetch(addressOf(language), { signal: AbortSignal.timeout(TIMEOUT_MS) })
    if (answer.ok) await cache?.put(addressOf(language), answer.clone()).catch(() => undefined)
    return await textOf(answer)
  } catch {
    return null
  }
}

const parsed = (text: string | null): Translation | null =>
  text === null ? null : (JSON.parse(text) as { data: Translation }).data

/** What this page has read. */
const known = new Map<Language, Promise<Translation | null>>()

/** @param onChange called when there is a newer translation */
async function read(language: Language, onChange: () => void): Promise<Translation | null> {
  const cache = await openCache()
  const kept = await textOf(await cache?.match(addressOf(language)))
  const reading = readAnew(language, cache)
  void follow({ language, cache, kept, reading, onChange })
  return parsed(kept ?? (await reading))
}

interface Following {
  readonly language: Language
  readonly cache: Cache | null
  readonly kept: string | null
  readonly reading: Promise<string | null>
  readonly onChange: () => void
}

/** Shows each newer translation while the page is in the language. */
async function follow({ language, cache, kept, reading, onChange }: Following): Promise<void> {
  let text = await reading
  let shown = kept ?? text
  for (;;) {
    if (text !== null && text !== shown) {
      shown = text
      known.set(language, Promise.resolve(parsed(text)))
      onChange()
    }
    const waitMs = shown === null ? RETRY_MS : AGAIN_MS
    await new Promise((resolve) => setTimeout(resolve, waitMs))
    if (document.documentElement.lang !== language) return void known.delete(language)
    if (!document.hidden) text = await readAnew(language, cache)
  }
}

/**
 * A file of words in a further language. Without a translation it stays English.
 * @param path of its words in the translation
 * @param english the English file
 * @param onChange shows the words again, when there is a newer translation
 */
export async function translated<F extends object>(
  language: Language,
  path: string,
  english: F,
  onChange: () => void,
): Promise<F> {
  if (!known.has(language)) known.set(language, read(language, onChange))
  const translation = await known.get(language)!
  if (translation === null) return english
  const words = Object.entries(english).map(([name, part]) => [
    name,
    translatedWords(name === 'page' ? 'all-pages' : path, part as unknown, translation),
  ])
  return Object.fromEntries(words) as F
}
