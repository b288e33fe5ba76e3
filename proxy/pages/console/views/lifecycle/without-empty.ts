/** Texts by language, without those that are blank. */
export const withoutEmpty = <T extends Readonly<Record<string, string | undefined>>>(texts: T): T =>
  Object.fromEntries(Object.entries(texts).filter(([, text]) => (text ?? '').trim() !== '')) as T
