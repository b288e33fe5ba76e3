/** The form of a new reminder, or of one that is changed. It says when it is sent next, and to how many. */
import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { Button, Segments } from '../../../design/button.tsx'
import { dayOf, now, number } from '../../clock.ts'
import { absenceOf } from '../../parts/panel.tsx'
import { useResource } from '../../resource.ts'
import { client } from '../../session.ts'
import { fill, words } from '../../words.ts'
import { useLineConfigured } from '../lifecycle/pause-and-resume.tsx'
import { saveSlot, type Bounds, hourText, newSlotId, nextSending, nextText, type Slot } from './slot.ts'

const AUDIENCES = ['all', 'participants', 'volunteers', 'managers', 'owners', 'completed'] as const
const TEXT_MAX = 5_000
const HOURS = Array.from({ length: 24 }, (_, hour) => hour)
const DAY_MS = 86_400_000

const newSlot = (): Slot => ({
  id: '',
  enabled: true,
  hour: 6,
  dates: [dayOf(now.value + DAY_MS)],
  audience: 'participants',
  text: { 'zh-Hant': '' },
})

interface Props {
  /** Null: a new one. */
  readonly slot: Slot | null
  readonly bounds: Bounds
  readonly onClose: () => void
}

interface FieldsProps {
  readonly draft: Slot
  readonly onChange: (fields: Partial<Slot>) => void
}

export function SlotForm({ slot, bounds, onClose }: Props) {
  const said = words.value.schedule
  const form = useRef<HTMLFormElement>(null)
  const draft = useSignal<Slot>(slot ?? newSlot())
  const busy = useSignal(false)
  useEffect(() => {
    form.current!.scrollIntoView({ block: 'start' })
    form.current!.querySelector('textarea')!.focus({ preventScroll: true })
  }, [])
  const change = (fields: Partial<Slot>) => (draft.value = { ...draft.value, ...fields })
  const submit = async () => {
    busy.value = true
    const { id, text, ...rest } = draft.value
    const { en, ...others } = text
    const english = en?.trim() ?? ''
    const saved = await saveSlot({
      ...rest,
      id: id === '' ? newSlotId(rest) : id,
      dates: rest.dates === null ? null : [...new Set(rest.dates)].toSorted(),
      text: { ...others, ...(english === '' ? {} : { en: english }) },
    })
    busy.value = false
    if (saved) onClose()
  }
  return (
    <form
      ref={form}
      class="slot-form"
      aria-label={slot === null ? said.addTitle : said.editTitle}
      onSubmit={(event) => {
        event.preventDefault()
        void submit()
      }}
    >
      <TextFields draft={draft.value} before={slot?.text ?? null} onChange={change} />
      <SlotDays dates={draft.value.dates} onChange={(dates) => change({ dates })} />
      <TimeAndAudience draft={draft.value} onChange={change} />
      <Sending draft={draft.value} bounds={bounds} isNew={slot === null} />
      <div class="row wide">
        <Button kind="primary" type="submit" busy={busy.value}>
          {words.value.common.save}
        </Button>
        <Button onClick={onClose}>{words.value.common.cancel}</Button>
      </div>
    </form>
  )
}

/** The Chinese text of a reminder was changed, and its English one was not. */
const isEnglishOld = (text: Slot['text'], before: Slot['text'] | null): boolean =>
  (text.en ?? '') !== '' && text.en === before?.en && text['zh-Hant'] !== before?.['zh-Hant']

function TextFields({
  draft: { text },
  before,
  onChange,
}: FieldsProps & { readonly before: Slot['text'] | null }) {
  const said = words.value.schedule
  return (
    <>
      <label class="field wide">
        <span>{said.text} · 繁體中文</span>
        <textarea
          name="zh"
          required
          maxLength={TEXT_MAX}
          value={text['zh-Hant']}
          onInput={(event) => onChange({ text: { ...text, 'zh-Hant': event.currentTarget.value } })}
        />
      </label>
      <label class="field wide">
        <span>{said.text} · English</span>
        <textarea
          name="en"
          maxLength={TEXT_MAX}
          value={text.en ?? ''}
          aria-describedby="english-hint"
          onInput={(event) => onChange({ text: { ...text, en: event.currentTarget.value } })}
        />
        <span id="english-hint" class="small quiet">
          {said.englishHint}{' '}
          {isEnglishOld(text, before) ? <strong class="warn-text">{said.englishOld}</strong> : null}
        </span>
      </label>
    </>
  )
}

function TimeAndAudience({ draft: { hour, audience }, onChange }: FieldsProps) {
  const said = words.value.messages
  return (
    <>
      <label class="field">
        <span>{words.value.schedule.hour}</span>
        <select
          name="hour"
          value={hour}
          onChange={({ currentTarget }) => onChange({ hour: currentTarget.selectedIndex })}
        >
          {HOURS.map((one) => (
            <option key={one} value={one}>
              {hourText(one)}
            </option>
          ))}
        </select>
      </label>
      <label class="field">
        <span>{said.audience}</span>
        <select
          name="audience"
          value={audience}
          onChange={({ currentTarget }) =>
            onChange({ audience: AUDIENCES[currentTarget.selectedIndex] ?? 'participants' })
          }
        >
          {AUDIENCES.map((name) => (
            <option key={name} value={name}>
              {said.audiences[name]}
            </option>
          ))}
        </select>
      </label>
      <p class="quiet small audience-means wide">{said.audienceMeans[audience]}</p>
    </>
  )
}

interface SendingProps {
  readonly draft: Slot
  readonly bounds: Bounds
  readonly isNew: boolean
}

/** When it is sent next, and how many get it: the same count that a message has before it is sent. */
function Sending({ draft, bounds, isNew }: SendingProps) {
  const said = words.value.schedule
  const { audience } = draft
  const count = useResource(
    (signal) => client.sendPush({ audience, text: '-', dry_run: true }, { signal }),
    0,
    `reminder-recipients ${audience}`,
  )
  const next = nextSending(draft, now.value, bounds)
  const recipients = count.value.value
  const counted = useLineConfigured() ? said.counted : said.countedWithoutLine
  return (
    <output class="wide reminder-sending">
      <strong class={next === null ? 'warn-text' : undefined}>
        {next === null ? said.never : next.running && isNew ? said.atOnce : nextText(next)}
      </strong>
      {recipients === null ? (
        <span class="quiet">{count.error.value === null ? said.counting : absenceOf(count)}</span>
      ) : (
        <span>
          {fill(counted, { recipients: number(recipients.recipients), cost: number(recipients.cost) })}{' '}
          {recipients.devices === 0 ? null : fill(said.devices, { devices: number(recipients.devices) })}
        </span>
      )}
      <span class="small quiet">{isNew ? said.mayGrow : `${said.mayGrow} ${said.sentOnce}`}</span>
    </output>
  )
}

const MOST_DAYS = 366
const tomorrow = (): string => dayOf(now.value + DAY_MS)
/** The day after the latest one of them. */
function following(dates: readonly string[]): string {
  const latest = dates
    .filter((day) => day !== '')
    .toSorted()
    .at(-1)
  if (latest === undefined) return tomorrow()
  return new Date(Date.parse(latest) + DAY_MS).toISOString().slice(0, 10)
}

interface DaysProps {
  /** Null: every day of the event. */
  readonly dates: readonly string[] | null
  readonly onChange: (dates: string[] | null) => void
}

/** The days of a reminder, as the event's calendar has them. */
function SlotDays({ dates, onChange }: DaysProps) {
  const said = words.value.schedule
  return (
    <div class="wide slot-when">
      <Segments
        label={said.when}
        value={dates === null ? 'every' : 'some'}
        options={[
          { value: 'some', text: said.someDays },
          { value: 'every', text: said.everyDay },
        ]}
        onChoose={(kind) => onChange(kind === 'every' ? null : (dates?.slice() ?? [tomorrow()]))}
      />
      {dates === null ? null : <Days dates={dates} onChange={onChange} />}
    </div>
  )
}

function Days({ dates, onChange }: DaysProps & { readonly dates: readonly string[] }) {
  const said = words.value.schedule
  return (
    <fieldset class="slot-days">
      <legend class="small">{said.days}</legend>
      {dates.map((day, i) => (
        // The place of a day is what it is known by: two may be the same while one is typed.
        <span key={i} class="slot-day">
          <input
            type="date"
            required
            aria-label={fill(said.day, { n: i + 1 })}
            value={day}
            onInput={({ currentTarget }) => onChange(dates.with(i, currentTarget.value))}
          />
          {dates.length === 1 ? null : (
            <Button
              kind="plain"
              icon
              label={fill(said.removeDay, { n: i + 1 })}
              onClick={() => onChange(dates.toSpliced(i, 1))}
            >
              ✕
            </Button>
          )}
        </span>
      ))}
      {dates.length < MOST_DAYS ? (
        <Button kind="plain" onClick={() => onChange([...dates, following(dates)])}>
          {said.addDay}
        </Button>
      ) : null}
    </fieldset>
  )
}
