/** What describes the event, which the owner edits part by part. */
import type { Answer } from '#shared/client/index.ts'
import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { Changed, instantOrNull, localOf, Meanwhile, TOAST_MS } from './changed.tsx'
import { Checklist } from './checklist.tsx'
import { PosterPanel } from './poster-panel.tsx'
import { RoutePanel } from './route-settings.tsx'
import { type EventSettings as Settings, readEvent, useEventSettings } from '../../event.ts'
import { warn } from '../../parts/actions.tsx'
import { Choice, Field } from '../../parts/fields.tsx'
import { PanelFrom, refusalOf } from '../../parts/panel.tsx'
import { type Resource, useResource } from '../../resource.ts'
import { client } from '../../session.ts'
import { ownName, words } from '../../words.ts'
import { Button } from '../../../design/button.tsx'
import { showToast } from '../../../design/toast.tsx'
import { LANGUAGES, pageWords } from '../../../frame/language.ts'

/** What a form holds: a text for each field. */
type Texts = Readonly<Record<string, string>>

interface PartForm {
  readonly part: 'name' | 'contact' | 'languages'
  readonly title: string
  readonly texts: (settings: Settings) => Texts
  readonly label: (field: string) => string
  readonly type?: (field: string) => 'text' | 'datetime-local'
  /** Of each field; a text field by default. */
  readonly control?: (field: string) => 'choice' | 'check' | 'none'
  readonly save: (texts: Texts, version: number) => Promise<Answer<Settings>>
}

const orNull = (text: string | undefined): string | null => text?.trim() || null

const nameForm = (): PartForm => ({
  part: 'name',
  title: words.value.event.name,
  texts: ({ name: { value } }) => ({
    ...Object.fromEntries(LANGUAGES.map(({ value: of }) => [of, value.names[of] ?? ''])),
    starts_at: localOf(value.starts_at),
    ends_at: localOf(value.ends_at),
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
      names: Object.fromEntries(Object.entries(names).filter(([, name]) => name.trim() !== '')),
      starts_at: instantOrNull(starts_at),
      ends_at: instantOrNull(ends_at),
      version,
    }),
})

const contactForm = (): PartForm => ({
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

/** The own language, and of each language whether it is offered; English always is. */
const languagesForm = (): PartForm => ({
  part: 'languages',
  title: words.value.event.languages,
  texts: ({ languages: { value } }) => ({
    [OWN]: value.language,
    ...Object.fromEntries(
      LANGUAGES.map(({ value: of }) => [of, of === 'en' || value.languages.includes(of) ? of : '']),
    ),
  }),
  label: (field) => (field === OWN ? words.value.event.ownLanguage : ownName(field)),
  control: (field) => (field === OWN ? 'choice' : field === 'en' ? 'none' : 'check'),
  save: ({ [OWN]: own, ...texts }, version) => {
    const language = LANGUAGES.find(({ value }) => value === own)!.value
    const languages = LANGUAGES.map(({ value }) => value).filter(
      (value) => value === language || isOffered(texts[value]),
    )
    return client.setEventLanguages({ language, languages, version })
  },
})

const CONDITION_MS = 60_000

export function EventSettings({ hasEnded }: { readonly hasEnded: boolean }) {
  const settings = useEventSettings()
  const condition = useResource(client.readCondition, CONDITION_MS, 'condition')
  return (
    <>
      {hasEnded ? null : <Checklist whole settings={settings} condition={condition} />}
      <Part from={settings} form={nameForm()} />
      <RoutePanel from={settings} />
      <Part from={settings} form={contactForm()} />
      <Part from={settings} form={languagesForm()} />
      <PosterPanel from={settings} />
    </>
  )
}

interface PartProps {
  readonly from: Resource<Settings>
  readonly form: PartForm
}

const Part = ({ from, form }: PartProps) => (
  <PanelFrom title={form.title} kind={`event-${form.part}`} from={from}>
    {(settings) => <Form key={form.part} form={form} from={from} settings={settings} />}
  </PanelFrom>
)

interface Draft {
  /** What the owner saw when they began to type, or after a refusal. */
  readonly seen: Texts
  readonly version: number
  readonly texts: Texts
}

function Form({ form, from, settings }: PartProps & { readonly settings: Settings }) {
  const draft = useSignal<Draft | null>(null)
  const isRefused = useSignal(false)
  const busy = useSignal(false)
  const stored = form.texts(settings)
  const texts = draft.value?.texts ?? stored
  const close = () => {
    draft.value = null
    isRefused.value = false
  }
  const type = (field: string, text: string) => {
    draft.value = {
      seen: stored,
      version: settings.version,
      ...draft.value,
      texts: { ...texts, [field]: text },
    }
  }
  const submit = async () => {
    const { version } = draft.value ?? settings
    busy.value = true
    const answer = await form.save(texts, version)
    // Only the settings are read again: whoever fills in one form after the other has a limit of calls.
    await from.reload()
    busy.value = false
    if (answer.ok) {
      close()
      showToast(words.value.common.saved, { forMs: TOAST_MS })
      await readEvent()
      return
    }
    warn(answer.error, refusalOf)
    // The owner sees what is stored beside what they typed; saving again replaces it.
    const fresh = from.value.value
    if (draft.value === null || fresh === null) return
    isRefused.value = true
    draft.value = { ...draft.value, version: fresh.version }
  }
  return (
    <form
      class="event-form"
      aria-label={form.title}
      onSubmit={(submitted) => {
        submitted.preventDefault()
        void submit()
      }}
    >
      {Object.keys(stored).map((field) => (
        <Control
          key={field}
          form={form}
          field={field}
          text={texts[field]!}
          onType={(text) => type(field, text)}
        >
          {isRefused.value && draft.value !== null && stored[field] !== draft.value.seen[field] ? (
            <Meanwhile text={stored[field]!} />
          ) : null}
        </Control>
      ))}
      <Changed settings={settings[form.part]}>
        {/* Values that nobody has chosen can be saved as they are. */}
        {draft.value === null && settings[form.part].version > 0 ? null : (
          <>
            <Button kind="primary" type="submit" busy={busy.value}>
              {words.value.common.save}
            </Button>
            {draft.value === null ? null : <Button onClick={close}>{pageWords.value.cancel}</Button>}
          </>
        )}
      </Changed>
    </form>
  )
}

interface ControlProps {
  readonly form: PartForm
  readonly field: string
  readonly text: string
  readonly onType: (text: string) => void
  readonly children: ComponentChildren
}

function Control({ form, field, text, onType, children }: ControlProps) {
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
            options={LANGUAGES.map(({ value }) => [value, ownName(value)])}
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
    case undefined:
      return (
        <Field name={field} type={form.type?.(field) ?? 'text'} label={label} value={text} onType={onType}>
          {children}
        </Field>
      )
  }
}
