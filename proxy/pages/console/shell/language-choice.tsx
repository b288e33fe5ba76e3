import { Segments } from '../../design/button.tsx'
import type { Language } from '#shared/contracts/bot.ts'
import { consoleLanguage, words } from '../words.ts'

export interface LanguageProps {
  readonly onLanguage: (language: Language) => void
}

/** The two languages of the console. */
export const LanguageChoice = ({ onLanguage }: LanguageProps) => (
  <Segments
    label={words.value.page.language}
    options={[
      { value: 'zh-Hant', text: '繁體中文', lang: 'zh-Hant' },
      { value: 'en', text: 'English', lang: 'en' },
    ]}
    value={consoleLanguage.value}
    onChoose={(chosen) => onLanguage(chosen)}
  />
)
