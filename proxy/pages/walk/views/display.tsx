/** How the app looks: the size of its letters, its language, its colours. */
import { pageWords } from '../../frame/page-words.ts'
import { words } from '../words.ts'
import { LanguageSwitch, LettersSwitch, ThemeSwitch } from '../../frame/switches.tsx'
import { View } from './view.tsx'

export const Display = () => (
  <View title={words.value.me.display} back>
    <section class="card stack-2">
      <h2>{pageWords.value.letters}</h2>
      <LettersSwitch />
      <h2>{pageWords.value.language}</h2>
      <LanguageSwitch />
      <h2>{pageWords.value.theme}</h2>
      <ThemeSwitch />
    </section>
  </View>
)
