/** What a person sees at an address that is no page. */
import { MarkSymbol } from '../design/marks.tsx'
import { WORD_FILES } from '../frame/page-words.ts'
import { startPage } from '../frame/start-page.tsx'
import { LanguageSwitch } from '../frame/switches.tsx'

void startPage(WORD_FILES, ({ words, choose }) => {
  const { notFound } = words.value.page
  return (
    <main class="not-found">
      <MarkSymbol mark="tail" />
      <h1>{notFound.title}</h1>
      <p class="row">
        <a class="button primary" href="/">
          {notFound.map}
        </a>
        <a class="button" href="/walk/">
          {notFound.walk}
        </a>
      </p>
      <LanguageSwitch words={words.value.page} onChoose={choose} />
    </main>
  )
})
