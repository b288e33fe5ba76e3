/** All components in every state, for those who make pages; a test photographs it in all themes. */
import { startPage } from '../frame/start-page.tsx'
import { LanguageSwitch, ThemeSwitch } from '../frame/switches.tsx'
import { Buttons, Charts, Colours, Lists, Marks, Panels, Tables, Type } from './parts.tsx'
import { pageWords } from '../frame/language.ts'

void startPage(() => (
  <main>
    <h1>Design of the pages</h1>
    <p class="quiet">Calm, with gold on deep colours. Every component in every state.</p>
    <div class="row">
      <LanguageSwitch />
      <ThemeSwitch />
    </div>
    <Colours />
    <Type />
    <Buttons />
    <Marks levels={pageWords.value.levels} />
    <Lists />
    <Tables />
    <Charts levels={pageWords.value.levels} />
    <Panels words={pageWords.value} />
  </main>
))
