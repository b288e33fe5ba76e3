/** The words of a language that is not built in. A script of its own, which readers of such a language load. */
import type { Language } from '#shared/contracts/bot.ts'
import { translatedWords, type Translation } from '#shared/locales/further/translated-words.ts'

/** Not deleted by the service workers, which delete caches by the path of their page. */
const CACHE = 'translated-words'
const TIMEOUT_MS = 10_000

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

/** @param onChange called when the kept translation is an older one */
async function read(language: Language, onChange: () => void): Promise<Translation | null> {
  const cache = await openCache()
  const kept = await textOf(await cache?.match(addressOf(language)))
  const reading = readAnew(language, cache)
  if (kept === null) {
    const text = await reading
    if (text === null) known.delete(language)
    return parsed(text)
  }
  void replace(language, kept, reading, onChange)
  return parsed(kept)
}

/** Shows a newer translation in place of the kept one. */
async function replace(
  language: Language,
  kept: string,
  reading: Promise<string | null>,
  onChange: () => void,
): Promise<void> {
  const text = await reading
  if (text === null || text === kept) return
  known.set(language, Promise.resolve(parsed(text)))
  onChange()
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
