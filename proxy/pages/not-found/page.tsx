/** The page for unknown addresses. */
import { MarkSymbol } from '../design/marks.tsx'
import { startPage } from '../frame/start-page.tsx'
import { LanguageSwitch } from '../frame/switches.tsx'
import type { NotFoundWords } from '#shared/locales/words.ts'
import { createWords } from '../frame/language.ts'

const words = createWords<NotFoundWords>('not-found', {
  'zh-Hant': () => import('#shared/locales/zh-hant/not-found.ts'),
  'zh-Hans': () => import('#shared/locales/zh-hans/not-found.ts'),
  ja: () => import('#shared/locales/ja/not-found.ts'),
  en: () => import('#shared/locales/en/not-found.ts'),
})

void startPage(() => {
  const { title, map, walk } = words.value
  return (
    <main class="not-found">
      <MarkSymbol mark="tail" />
      <h1>{title}</h1>
      <p class="row">
        <a class="button primary" href="/">
          {map}
        </a>
        <a class="button" href="/walk/">
          {walk}
        </a>
      </p>
      <LanguageSwitch />
    </main>
  )
})
