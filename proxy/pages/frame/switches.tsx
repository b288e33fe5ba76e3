/** Switches of language, letter size and theme, the same on every page. */
import type { Language } from '#shared/contracts/bot.ts'
import { Segments } from '../design/button.tsx'
import { chooseLanguage, language, LANGUAGES, offered, pageWords } from './language.ts'
import { chooseLetters, chooseTheme, LETTERS, letters, type Theme, theme, THEMES } from './theme.ts'

/** A language as its readers call it. */
export const languageName = (of: Language): string =>
  LANGUAGES[of] ?? new Intl.DisplayNames(of, { type: 'language' }).of(of)!

export const LanguageSwitch = () => (
  <select
    aria-label={pageWords.value.language}
    value={language.value}
    onChange={({ currentTarget }) => void chooseLanguage(currentTarget.value)}
  >
    {[...new Set([...offered.value, language.value, 'en'])].map((value) => (
      <option key={value} value={value} lang={value}>
        {languageName(value)}
      </option>
    ))}
  </select>
)

/** For pages with `design/letters.css`. */
export const LettersSwitch = () => (
  <Segments
    sizes
    label={pageWords.value.letters}
    options={LETTERS.map((value) => ({ value, text: pageWords.value.letterSizes[value] }))}
    value={letters.value}
    onChoose={chooseLetters}
  />
)

export const ThemeSwitch = () => (
  <select
    aria-label={pageWords.value.theme}
    value={theme.value}
    onChange={({ currentTarget }) => chooseTheme(currentTarget.value as Theme)}
  >
    {THEMES.map((value) => (
      <option key={value} value={value}>
        {pageWords.value.themes[value]}
      </option>
    ))}
  </select>
)
