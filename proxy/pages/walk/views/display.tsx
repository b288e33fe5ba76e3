/** How the app looks: the size of its letters, its language, its colours. */
import { pageWords } from '../../frame/page-words.ts'
import { words } from '../words.ts'
import { Segments } from '../../design/button.tsx'
import { LanguageSwitch, ThemeSwitch } from '../../frame/switches.tsx'
import { chooseLetters, LETTERS, letters } from '../../frame/theme.ts'
import { View } from './view.tsx'

export const Display = () => (
  <View title={words.value.me.display} back={words.value.back}>
    <section class="card stack-2">
      <h2>{words.value.me.letters}</h2>
      <Segments
        label={words.value.me.letters}
        options={LETTERS.map((value) => ({ value, text: words.value.me.letterSizes[value] }))}
        value={letters.value}
        onChoose={chooseLetters}
      />
      <LanguageSwitch />
      <h2>{pageWords.value.theme}</h2>
      <ThemeSwitch />
    </section>
  </View>
)
