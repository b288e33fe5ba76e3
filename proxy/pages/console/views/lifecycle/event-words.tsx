/** What pilgrims follow, and the event's own names of the nine levels. */
import type { Language } from '#shared/contracts/bot.ts'
import { LEVELS, levelNames } from '#shared/core/rules/levels.ts'
import { levels as defaultsJa } from '#shared/locales/ja/levels.ts'
import { levels as defaultsEn } from '#shared/locales/en/levels.ts'
import { levels as defaultsHans } from '#shared/locales/zh-hans/levels.ts'
import { levels as defaultsHant } from '#shared/locales/zh-hant/levels.ts'
import { Meanwhile, PartForm, type PartProps, useEditing } from './part-form.tsx'
import { withoutEmpty } from './without-empty.ts'
import type { EventSettings } from '../../event.ts'
import { Choice, Field } from '../../parts/fields.tsx'
import { PanelFrom } from '../../parts/panel.tsx'
import type { Resource } from '../../resource.ts'
import { client } from '../../session.ts'
import { ownName, words } from '../../words.ts'
import { Emblem } from '../../../design/emblem.tsx'

const DEFAULTS: Readonly<Partial<Record<Language, readonly string[]>>> = {
  'zh-Hant': defaultsHant,
  'zh-Hans': defaultsHans,
  ja: defaultsJa,
  en: defaultsEn,
}

export const WordsPanel = ({ from }: { readonly from: Resource<EventSettings> }) => (
  <PanelFrom title={words.value.event.words} kind="event-words" from={from}>
    {(settings) => <WordsForm from={from} settings={settings} />}
  </PanelFrom>
)

type Words = EventSettings['words']['value']

const KINDS = ['procession', 'walk', 'relay'] as const

function WordsForm(props: PartProps) {
  const { settings } = props
  const messages = words.value.event
  const { language: own, languages } = settings.languages.value
  const offered = [...new Set<Language>([own, ...languages, 'en'])]
  const stored = settings.words.value
  const { value, change, overtaken, form } = useEditing<Words>(props, 'words', {
    stored,
    save: ({ followed, level_names: names }, version) =>
      client.setEventWords({ followed, level_names: names.map(withoutEmpty), version }),
  })
  const name = (level: number, language: Language, text: string) =>
    change({
      level_names: value.level_names.map((names, i) =>
        i === level ? { ...names, [language]: text } : names,
      ),
    })
  /** What readers of each language see if a field is empty. */
  const typed = value.level_names.map(withoutEmpty)
  const defaults = offered.map((language) =>
    levelNames(typed, DEFAULTS[language] ?? defaultsEn, language, own),
  )
  return (
    <PartForm title={messages.words} part={settings.words} form={form} class="words-form">
      <Choice
        name="followed"
        label={messages.followed}
        value={value.followed}
        options={KINDS.map((kind) => [kind, messages.followedKinds[kind]])}
        onChoose={(followed) => change({ followed })}
      />
      {overtaken === null || stored.followed === overtaken.followed ? null : (
        <Meanwhile text={messages.followedKinds[stored.followed]} />
      )}
      <p class="small">{messages.levelsNote}</p>
      <ol class="field-rows level-names">
        {LEVELS.map(({ level, minKm, minCheckins }, i) => (
          <li key={level}>
            <span class="row">
              <Emblem level={level} />
              <span>
                <strong class="block">{`${messages.level} ${level}`}</strong>
                <span class="small quiet">{messages.levelFrom(minKm, minCheckins)}</span>
              </span>
            </span>
            {offered.map((language, of) => (
              <Field
                key={language}
                name={`level-${level}-${language}`}
                label={ownName(language)}
                maxLength={60}
                placeholder={defaults[of]![i]!}
                value={value.level_names[i]?.[language] ?? ''}
                onType={(text) => name(i, language, text)}
              >
                {overtaken === null ||
                nameAt(stored, i, language) === nameAt(overtaken, i, language) ? null : (
                  <Meanwhile text={nameAt(stored, i, language)} />
                )}
              </Field>
            ))}
          </li>
        ))}
      </ol>
    </PartForm>
  )
}

const nameAt = ({ level_names: names }: Words, level: number, language: Language): string =>
  names[level]?.[language] ?? ''
