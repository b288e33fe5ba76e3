/** The operators' console. */
import { startPage } from '../frame/start-page.tsx'
import { App } from './app.tsx'
import { setWords, WORD_FILES } from './words.ts'

void startPage(WORD_FILES, ({ words, choose }) => {
  setWords(words)
  return <App onLanguage={choose} />
})
