/** What a person sees at an address that is no page. */
import { MarkSymbol } from '../design/marks.tsx'
import { startPage } from '../frame/start-page.tsx'
import { LanguageSwitch } from '../frame/switches.tsx'
import { pageWords } from '../frame/language.ts'

void startPage(() => {
  const { notFound } = pageWords.value
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
      <LanguageSwitch />
    </main>
  )
})
