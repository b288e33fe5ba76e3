/** All components in every state, for those who make pages; a test photographs it in all themes. */
import { startPage } from '../frame/start-page.tsx'
import { LanguageSwitch, ThemeSwitch } from '../frame/switches.tsx'
import { Buttons, Charts, Colours, Lists, Marks, Panels, Tables, Type } from './parts.tsx'
import { WORD_FILES } from '../frame/page-words.ts'

void startPage(WORD_FILES, ({ words, choose }) => (
  <main>
    <h1>Design of the pages</h1>
    <p class="quiet">Calm, with gold on deep colours. Every component in every state.</p>
    <div class="row">
      <LanguageSwitch words={words.value.page} onChoose={choose} />
      <ThemeSwitch words={words.value.page} />
    </div>
    <Colours />
    <Type />
    <Buttons />
    <Marks levels={words.value.page.levels} />
    <Lists />
    <Tables />
    <Charts levels={words.value.page.levels} />
    <Panels words={words.value.page} />
  </main>
))
