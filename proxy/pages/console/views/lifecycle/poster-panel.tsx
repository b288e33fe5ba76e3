/** The printable poster of the event in a language. */
import type { Language } from '#shared/contracts/bot.ts'
import { nameIn } from '#shared/core/rules/languages.ts'
import type { PosterWords } from '#shared/locales/words.ts'
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { timeZone } from '../../clock.ts'
import type { EventSettings } from '../../event.ts'
import { fileName, saveBlob } from '../../parts/download.ts'
import { Choice } from '../../parts/fields.tsx'
import { PanelFrom } from '../../parts/panel.tsx'
import type { Resource } from '../../resource.ts'
import { ownName, pair, words } from '../../words.ts'
import { type WordFiles, wordsIn } from '../../../frame/language.ts'
import { showToast } from '../../../design/toast.tsx'
import { Button } from '../../../design/button.tsx'
import type { Poster } from './draw-poster.ts'

const FILES: WordFiles<{ readonly words: PosterWords }> = {
  'zh-Hant': () => import('#shared/locales/zh-hant/poster.ts'),
  'zh-Hans': () => import('#shared/locales/zh-hans/poster.ts'),
  ja: () => import('#shared/locales/ja/poster.ts'),
  en: () => import('#shared/locales/en/poster.ts'),
}

export const PosterPanel = ({ from }: { readonly from: Resource<EventSettings> }) => (
  <PanelFrom title={words.value.poster.title} kind="event-poster" from={from}>
    {(settings) => <PosterOf settings={settings} />}
  </PanelFrom>
)

function posterOf({ name, contact, languages }: EventSettings, language: Language): Poster {
  const { names, starts_at, ends_at } = name.value
  const days = new Intl.DateTimeFormat(language, { dateStyle: 'long', timeZone: timeZone.value })
  return {
    name: nameIn(names, language, languages.value.language),
    days:
      starts_at === null ? null : days.formatRange(Date.parse(starts_at), Date.parse(ends_at ?? starts_at)),
    walkUrl: `${location.origin}/walk/`,
    mapUrl: `${location.origin}/`,
    emergencyNumber: contact.value.emergency_number,
    organiserPhone: contact.value.organiser_phone,
  }
}

function PosterOf({ settings }: { readonly settings: EventSettings }) {
  const messages = words.value.poster
  const { language: own, languages } = settings.languages.value
  const offered = [...new Set<Language>([own, ...languages, 'en'])]
  const language = useSignal<Language>(own)
  const drawn = useSignal<HTMLCanvasElement | null>(null)
  const picture = useSignal<string | null>(null)
  const chosen = language.value
  useEffect(() => {
    let isCurrent = true
    const draw = async () => {
      const [{ drawPoster, blobOf }, { words: posterWords }] = await Promise.all([
        import('./draw-poster.ts'),
        wordsIn(chosen, 'poster', FILES),
      ])
      const canvas = await drawPoster(posterOf(settings, chosen), posterWords)
      const url = URL.createObjectURL(await blobOf(canvas, 'image/png'))
      if (!isCurrent) return URL.revokeObjectURL(url)
      if (picture.peek() !== null) URL.revokeObjectURL(picture.peek()!)
      drawn.value = canvas
      picture.value = url
    }
    draw().catch((error: unknown) => {
      if (isCurrent) showToast(pair(words.peek().poster.title, words.peek().common.failed), { warning: true })
      reportError(error)
    })
    return () => {
      isCurrent = false
    }
  }, [settings, chosen, drawn, picture])
  const save = async (extension: 'pdf' | 'png') => {
    const { blobOf, pdfOf } = await import('./draw-poster.ts')
    const canvas = drawn.value!
    const file = extension === 'pdf' ? await pdfOf(canvas) : await blobOf(canvas, 'image/png')
    saveBlob(file, fileName('poster', language.value, extension))
  }
  return (
    <>
      <p class="small">{messages.text}</p>
      <Choice
        label={messages.language}
        value={language.value}
        options={offered.map((offer) => [offer, ownName(offer)])}
        onChoose={(offer) => (language.value = offer)}
      />
      {picture.value === null ? null : (
        <>
          <img class="poster" src={picture.value} alt={messages.preview} />
          <div class="row">
            <Button onClick={() => void save('pdf')}>{messages.pdf}</Button>
            <Button onClick={() => void save('png')}>{messages.picture}</Button>
          </div>
        </>
      )}
    </>
  )
}
