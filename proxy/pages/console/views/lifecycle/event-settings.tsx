/** The description of the event, which the owner edits part by part. */
import type { Answer } from '#shared/client/index.ts'
import type { Language } from '#shared/contracts/bot.ts'
import type { ComponentChildren } from 'preact'
import { instantOrNull, localOf, Meanwhile, PartForm, type PartProps, useEditing } from './part-form.tsx'
import { withoutEmpty } from './without-empty.ts'
import { Checklist } from './checklist.tsx'
import { ArchivePanel } from './archive-panel.tsx'
import { PosterPanel } from './poster-panel.tsx'
import { RehearsalPanel } from './rehearsal-panel.tsx'
import { RoutePanel } from './route-settings.tsx'
import { MessagesPanel } from './event-messages.tsx'
import { SurveyPanel } from './event-survey.tsx'
import { WordsPanel } from './event-words.tsx'
import { TranslationPanel } from './translation-panel.tsx'
import { timeZone } from '../../clock.ts'
import { type EventSettings as Settings, isRehearsal, useEventSettings } from '../../event.ts'
import { Choice, Field } from '../../parts/fields.tsx'
import { PanelFrom } from '../../parts/panel.tsx'
import { type Resource, useResource } from '../../resource.ts'
import { client } from '../../session.ts'
import { ownName, pair, words } from '../../words.ts'
import { LANGUAGES } from '../../../frame/language.ts'

/** Values of a form: a text for each field. */
type Texts = Readonly<Record<string, string>>

interface Fields {
  readonly part: 'name' | 'contact' | 'languages' | 'notice'
  readonly title: string
  readonly texts: (settings: Settings) => Texts
  readonly label: (field: string) => string
  readonly type?: (field: string) => 'text' | 'datetime-local'
  /** Control of each field; a text field by default. */
  readonly control?: (field: string) => 'choice' | 'check' | 'none' | 'long' | undefined
  readonly note?: string
  readonly save: (texts: Texts, version: number) => Promise<Answer<Settings>>
}

const orNull = (text: string | undefined): string | null => text?.trim() || null

/** The built-in languages, and those that the owner has added. */
const allLanguages = ({ languages: { value } }: Settings): readonly Language[] => [
  ...new Set([...Object.keys(LANGUAGES), ...value.languages, ...Object.keys(value.translations)]),
]

/** A text for each language. */
const textsOf = (settings: Settings, texts: Readonly<Record<Language, string>>): Texts =>
  Object.fromEntries(allLanguages(settings).map((of) => [of, texts[of] ?? '']))

const nameForm = (): Fields => ({
  part: 'name',
  title: words.value.event.name,
  note: words.value.event.zone(timeZone.value ?? ''),
  texts: (settings) => ({
    ...textsOf(settings, settings.name.value.names),
    starts_at: localOf(settings.name.value.starts_at),
    ends_at: localOf(settings.name.value.ends_at),
  }),
  label: (field) =>
    field === 'starts_at'
      ? words.value.event.starts
      : field === 'ends_at'
        ? words.value.event.ends
        : ownName(field),
  type: (field) => (field.endsWith('_at') ? 'datetime-local' : 'text'),
  save: ({ starts_at, ends_at, ...names }, version) =>
    client.setEventName({
      names: withoutEmpty(names),
      starts_at: instantOrNull(starts_at),
      ends_at: instantOrNull(ends_at),
      version,
    }),
})

const contactForm = (): Fields => ({
  part: 'contact',
  title: words.value.event.contact,
  texts: ({ contact: { value } }) => ({
    emergency_number: value.emergency_number ?? '',
    organiser_phone: value.organiser_phone ?? '',
  }),
  label: (field) =>
    field === 'emergency_number' ? words.value.event.emergencyNumber : words.value.event.organiserPhone,
  save: ({ emergency_number, organiser_phone }, version) =>
    client.setEventContact({
      emergency_number: orNull(emergency_number),
      organiser_phone: orNull(organiser_phone),
      version,
    }),
})

const OWN = 'own'
const isOffered = (text: string | undefined): boolean => text !== ''

/** The default language, and for each other language whether it is offered; English always is. */
const languagesForm = (): Fields => ({
  part: 'languages',
  title: words.value.event.languages,
  texts: (settings) => ({
    [OWN]: settings.languages.value.language,
    ...Object.fromEntries(
      allLanguages(settings).map((of) => [
        of,
        of === 'en' || settings.languages.value.languages.includes(of) ? of : '',
      ]),
    ),
  }),
  label: (field) => (field === OWN ? words.value.event.ownLanguage : ownName(field)),
  control: (field) => (field === OWN ? 'choice' : field === 'en' ? 'none' : 'check'),
  save: ({ [OWN]: own, ...texts }, version) => {
    const languages = Object.keys(texts).filter((of) => of === own || isOffered(texts[of]))
    return client.setEventLanguages({ language: own!, languages, version })
  },
})

/** Limit of the service, in characters. */
const MAX_NOTICE_TEXT = 6_000

const OF_NOTICE = ['organiser', 'contact', 'kept_until'] as const
const isOfNotice = (field: string): field is (typeof OF_NOTICE)[number] =>
  OF_NOTICE.some((name) => name === field)

/** Organiser, contact, last day of storage, and a text in each language. */
const noticeForm = (): Fields => ({
  part: 'notice',
  title: words.value.event.notice,
  note: words.value.event.noticeNote,
  texts: (settings) => ({
    organiser: settings.notice.value.organiser ?? '',
    contact: settings.notice.value.contact ?? '',
    kept_until: localOf(settings.notice.value.kept_until),
    ...textsOf(settings, settings.notice.value.texts),
  }),
  label: (field) =>
    isOfNotice(field)
      ? words.value.event.noticeFields[field]
      : pair(words.value.event.ownText, ownName(field)),
  type: (field) => (field === 'kept_until' ? 'datetime-local' : 'text'),
  control: (field) => (isOfNotice(field) ? undefined : 'long'),
  save: ({ organiser, contact, kept_until, ...texts }, version) =>
    client.setEventNotice({
      organiser: orNull(organiser),
      contact: orNull(contact),
      kept_until: instantOrNull(kept_until),
      texts: withoutEmpty(texts),
      version,
    }),
})

const CONDITION_MS = 60_000

export function EventSettings({ hasEnded }: { readonly hasEnded: boolean }) {
  const settings = useEventSettings()
  const condition = useResource(client.readCondition, CONDITION_MS, 'condition')
  const archive = <ArchivePanel from={settings} condition={condition} hasEnded={hasEnded} />
  return (
    <>
      {hasEnded ? archive : null}
      {hasEnded ? null : <Checklist whole settings={settings} condition={condition} />}
      <Part from={settings} form={nameForm()} />
      <RoutePanel from={settings} />
      <Part from={settings} form={contactForm()} />
      <Part from={settings} form={noticeForm()} />
      <Part from={settings} form={languagesForm()} />
      <TranslationPanel from={settings} />
      <WordsPanel from={settings} />
      <SurveyPanel from={settings} />
      <MessagesPanel from={settings} />
      <PosterPanel from={settings} />
      {hasEnded && !isRehearsal.value ? null : <RehearsalPanel from={settings} />}
      {hasEnded ? null : archive}
    </>
  )
}

interface PanelProps {
  readonly from: Resource<Settings>
  readonly form: Fields
}

const Part = ({ from, form }: PanelProps) => (
  <PanelFrom title={form.title} kind={`event-${form.part}`} from={from}>
    {(settings) => <Form key={form.part} fields={form} from={from} settings={settings} />}
  </PanelFrom>
)

function Form({ fields, ...props }: PartProps & { readonly fields: Fields }) {
  const { settings } = props
  const stored = fields.texts(settings)
  const { value, change, overtaken, form } = useEditing<Texts>(props, fields.part, {
    stored,
    save: fields.save,
  })
  return (
    <PartForm title={fields.title} part={settings[fields.part]} form={form}>
      {fields.note === undefined ? null : <p class="small note">{fields.note}</p>}
      {Object.keys(stored).map((field) => (
        <Control
          key={field}
          form={fields}
          field={field}
          text={value[field]!}
          languages={allLanguages(settings)}
          onType={(text) => change({ [field]: text })}
        >
          {overtaken === null || stored[field] === overtaken[field] ? null : (
            <Meanwhile text={stored[field]!} />
          )}
        </Control>
      ))}
    </PartForm>
  )
}

interface ControlProps {
  readonly form: Fields
  readonly field: string
  readonly text: string
  /** That the event can have as its own. */
  readonly languages: readonly Language[]
  readonly onType: (text: string) => void
  readonly children: ComponentChildren
}

function Control({ form, field, text, languages, onType, children }: ControlProps) {
  const label = form.label(field)
  switch (form.control?.(field)) {
    case 'none':
      return null
    case 'choice':
      return (
        <div>
          <Choice
            name={field}
            label={label}
            value={text}
            options={languages.map((of) => [of, ownName(of)])}
            onChoose={onType}
          />
          {children}
        </div>
      )
    case 'check':
      return (
        <label class="row">
          <input
            type="checkbox"
            name={field}
            checked={isOffered(text)}
            onChange={({ currentTarget }) => onType(currentTarget.checked ? field : '')}
          />
          {label}
          {children}
        </label>
      )
    case 'long':
      return (
        <Field name={field} label={label} value={text} long wide maxLength={MAX_NOTICE_TEXT} onType={onType}>
          {children}
        </Field>
      )
    case undefined:
      return (
        <Field name={field} type={form.type?.(field) ?? 'text'} label={label} value={text} onType={onType}>
          {children}
        </Field>
      )
  }
}
