/** Switches of language, letters and theme, the same on every page. */
import { pageWords } from './page-words.ts'
import { Segments } from '../design/button.tsx'
import { chooseLanguage, LANGUAGES, language } from './language.ts'
import { chooseLetters, chooseTheme, LETTERS, letters, THEMES, theme } from './theme.ts'

export const LanguageSwitch = () => (
  <Segments
    label={pageWords.value.language}
    options={LANGUAGES.map((option) => ({ ...option, lang: option.value }))}
    value={language.value}
    onChoose={(chosen) => void chooseLanguage(chosen)}
  />
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
  <Segments
    label={pageWords.value.theme}
    options={THEMES.map((value) => ({ value, text: pageWords.value.themes[value] }))}
    value={theme.value}
    onChoose={chooseTheme}
  />
)
