/** Switches of language and theme, the same on every page. */
import { pageWords } from './page-words.ts'
import { Segments } from '../design/button.tsx'
import { chooseLanguage, LANGUAGES, language } from './language.ts'
import { chooseTheme, THEMES, theme } from './theme.ts'

export const LanguageSwitch = () => (
  <Segments
    label={pageWords.value.language}
    options={LANGUAGES.map((option) => ({ ...option, lang: option.value }))}
    value={language.value}
    onChoose={(chosen) => void chooseLanguage(chosen)}
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
