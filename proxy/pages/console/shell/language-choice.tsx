import { pageWords } from '../../frame/page-words.ts'
import { Segments } from '../../design/button.tsx'
import { chooseLanguage } from '../../frame/language.ts'
import { consoleLanguage } from '../words.ts'

/** The two languages of the console. */
export const LanguageChoice = () => (
  <Segments
    label={pageWords.value.language}
    options={[
      { value: 'zh-Hant', text: '繁體中文', lang: 'zh-Hant' },
      { value: 'en', text: 'English', lang: 'en' },
    ]}
    value={consoleLanguage.value}
    onChoose={(chosen) => void chooseLanguage(chosen)}
  />
)
