/** Switches of language and theme, the same on every page. */
import type { Language } from '#shared/contracts/bot.ts'
import type { PageWords } from '#shared/locales/words.ts'
import { Segments } from '../design/button.tsx'
import { LANGUAGES, language } from './language.ts'
import { chooseTheme, THEMES, theme } from './theme.ts'

export const LanguageSwitch = (props: {
  readonly words: PageWords
  readonly onChoose: (language: Language) => void
}) => (
  <Segments
    label={props.words.language}
    options={LANGUAGES.map((option) => ({ ...option, lang: option.value }))}
    value={language.value}
    onChoose={props.onChoose}
  />
)

export const ThemeSwitch = ({ words }: { readonly words: PageWords }) => (
  <Segments
    label={words.theme}
    options={THEMES.map((value) => ({ value, text: words.themes[value] }))}
    value={theme.value}
    onChoose={chooseTheme}
  />
)
