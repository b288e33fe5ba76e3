/** The messages that contain the event's name, with a preview as on a phone. */
import type { Language } from '#shared/contracts/bot.ts'
import { EVENT_PLACE, withEvent } from '#shared/core/rules/event-template.ts'
import { nameIn } from '#shared/core/rules/languages.ts'
import type { BotWords } from '#shared/locales/words.ts'
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { Meanwhile, PartForm, type PartProps, useEditing } from './part-form.tsx'
import { withoutEmpty } from './without-empty.ts'
import type { EventSettings } from '../../event.ts'
import { Choice, Field } from '../../parts/fields.tsx'
import { PanelFrom } from '../../parts/panel.tsx'
import type { Resource } from '../../resource.ts'
import { client } from '../../session.ts'
import { ownName, words } from '../../words.ts'
import { type WordFiles, wordsIn } from '../../../frame/language.ts'

const FILES: WordFiles<{ readonly bot: BotWords }> = {
  'zh-Hant': () => import('#shared/locales/zh-hant/bot.ts'),
  'zh-Hans': () => import('#shared/locales/zh-hans/bot.ts'),
  ja: () => import('#shared/locales/ja/bot.ts'),
  en: () => import('#shared/locales/en/bot.ts'),
}

export const MessagesPanel = ({ from }: { readonly from: Resource<EventSettings> }) => (
  <PanelFrom title={words.value.templates.title} kind="event-messages" from={from}>
    {(settings) => <MessagesForm from={from} settings={settings} />}
  </PanelFrom>
)

type Messages = EventSettings['messages']['value']

const TEMPLATES = ['welcome', 'share', 'about', 'summaryTitle'] as const satisfies (keyof Messages)[]

function MessagesForm(props: PartProps) {
  const { settings } = props
  const messages = words.value.templates
  const { language: own, languages } = settings.languages.value
  const offered = [...new Set<Language>([own, ...languages, 'en'])]
  const language = useSignal<Language>(own)
  const defaults = useSignal<BotWords | null>(null)
  const chosen = language.value
  const stored = settings.messages.value
  const { value, change, overtaken, form } = useEditing<Messages>(props, 'messages', {
    stored,
    save: (messages, version) =>
      client.setEventMessages({
        welcome: withoutEmpty(messages.welcome),
        share: withoutEmpty(messages.share),
        about: withoutEmpty(messages.about),
        summaryTitle: withoutEmpty(messages.summaryTitle),
        version,
      }),
  })
  useEffect(() => {
    let isCurrent = true
    void (async () => {
      const { bot } = await wordsIn(chosen, 'bot', FILES)
      if (isCurrent) defaults.value = bot
    })()
    return () => {
      isCurrent = false
    }
  }, [chosen, defaults])
  const event = nameIn(settings.name.value.names, chosen, own)
  return (
    <PartForm title={messages.title} part={settings.messages} form={form} class="words-form">
      <p class="small">{messages.note(EVENT_PLACE)}</p>
      <Choice
        label={messages.language}
        value={chosen}
        options={offered.map((offer) => [offer, ownName(offer)])}
        onChoose={(offer) => (language.value = offer)}
      />
      {TEMPLATES.map((name) => {
        const text = value[name][chosen] ?? ''
        const template = text.trim() || (defaults.value?.[name](EVENT_PLACE) ?? '')
        const current = stored[name][chosen] ?? ''
        return (
          <div key={name} class="template">
            <Field
              name={name}
              label={messages.names[name]}
              long
              maxLength={300}
              placeholder={defaults.value?.[name](EVENT_PLACE) ?? ''}
              value={text}
              onType={(typed) => change({ [name]: { ...value[name], [chosen]: typed } })}
            >
              {overtaken === null || current === (overtaken[name][chosen] ?? '') ? null : (
                <Meanwhile text={current} />
              )}
            </Field>
            <p class="bubble" lang={chosen}>
              <span class="visually-hidden">{messages.preview}</span>
              {withEvent(template, event)}
            </p>
          </div>
        )
      })}
    </PartForm>
  )
}
