/** Scheduled reminders. Owners edit them; everyone else reads them. */
import type { Data } from '#shared/client/index.ts'
import { useSignal } from '@preact/signals'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { comingDay, dayOf, hourText, instantOf, minute, now, shortDay } from '../../clock.ts'
import { event } from '../../event.ts'
import { status } from '../../live.ts'
import { act, useSave } from '../../parts/actions.tsx'
import { Choice, Field } from '../../parts/fields.tsx'
import { Listed } from '../../parts/paged-list.tsx'
import { PanelFrom, absenceOf } from '../../parts/panel.tsx'
import { useResource } from '../../resource.ts'
import { OWNER, client, level } from '../../session.ts'
import { AudienceMeans, countedText } from './compose.tsx'
import { useLineConfigured, useRecipients } from './left-out-people.tsx'
import { consoleLanguage, pair, words } from '../../words.ts'
import { Button, Segments } from '../../../design/button.tsx'
import { pageWords } from '../../../frame/language.ts'

const EVERY_MS = 60_000
const REMINDERS = { cause: 'notification', limit: 20 } as const

/** The event's period. Unbounded until it is known. */
function useBounds(): Bounds {
  const { starts_at = null, ends_at = null } = event.value ?? {}
  return {
    startsMs: starts_at === null ? -Infinity : Date.parse(starts_at),
    endsMs: ends_at === null ? Infinity : Date.parse(ends_at),
  }
}

interface Dated {
  readonly slot: Slot
  readonly next: NextSending | null
}

const inOrder = (slots: readonly Slot[], bounds: Bounds): readonly Dated[] =>
  slots
    .map((slot) => ({ slot, next: nextSending(slot, now.value, bounds) }))
    .toSorted((a, b) => (a.next?.atMs ?? Infinity) - (b.next?.atMs ?? Infinity) || a.slot.hour - b.slot.hour)

export function Schedule() {
  const plan = useResource(client.readNotifications, EVERY_MS, 'notifications')
  const reminders = useResource(client.listMessages, EVERY_MS, 'reminders', REMINDERS)
  const bounds = useBounds()
  /** As it was when editing began. A new reminder has its own form (`Additions`). */
  const edited = useSignal<Slot | null>(null)
  const messages = words.value.schedule
  return (
    <PanelFrom title={messages.title} kind="schedule" from={plan}>
      {({ slots }) => (
        <>
          <Rests />
          <Listed>
            {inOrder(withEdited(slots, edited.value), bounds).map((dated, _, all) =>
              dated.slot.id === edited.value?.id ? (
                <li key={dated.slot.id}>
                  <SlotForm slot={edited.value} bounds={bounds} onClose={() => (edited.value = null)} />
                </li>
              ) : (
                <SlotRow
                  key={dated.slot.id}
                  {...dated}
                  state={stateOf(dated, all, reminders.value.value?.items)}
                  onEdit={() => (edited.value = dated.slot)}
                />
              ),
            )}
          </Listed>
          <Additions bounds={bounds} />
        </>
      )}
    </PanelFrom>
  )
}

/** What an operator edits stays in the list, even if somebody else has removed it. */
const withEdited = (slots: readonly Slot[], edited: Slot | null): readonly Slot[] =>
  edited === null || slots.some(({ id }) => id === edited.id) ? slots : [...slots, edited]

/**
 * State of a reminder whose hour has begun. An entry of the sent messages contains the audience but not the
 * reminder: if several have the same audience, none counts as sent before all are.
 */
function stateOf(
  { slot, next }: Dated,
  all: readonly Dated[],
  sent: readonly Sent[] | undefined,
): string | null {
  if (next?.running !== true || sent === undefined) return null
  const alike = all.filter((other) => other.next?.running === true && other.slot.audience === slot.audience)
  const outcomes = sent.filter(
    ({ audience, created_at }) =>
      audience['audience'] === slot.audience && Date.parse(created_at) >= next.atMs,
  )
  const state = outcomes.length < alike.length ? undefined : outcomes[0]?.state
  return state === undefined ? words.value.people.waits : words.value.messages.states[state]
}

/** The scheduler sends nothing after the end. */
const hasEnded = (): boolean => status.value?.status === 'ended'

function Rests() {
  const messages = words.value.schedule
  const state = status.value?.status
  if (state !== 'ended' && state !== 'paused') return null
  return <p class="notice warning">{messages.rests}</p>
}

const textOf = ({ text }: Slot): string => text[consoleLanguage.value] ?? text['zh-Hant']

/** The text that most pilgrims get, shown beside the one in the console's language. */
const MostRead = ({ slot }: { readonly slot: Slot }) =>
  slot.text['zh-Hant'] === textOf(slot) ? null : (
    <p class="slot-text quiet" lang="zh-Hant">
      {slot.text['zh-Hant']}
    </p>
  )

/** `every day of the event`, or its dates. */
const daysOf = ({ dates }: Slot): string =>
  dates === null
    ? words.value.schedule.everyDay
    : dates
        .toSorted()
        .map((day) => shortDay(instantOf(`${day}T12:00`)))
        .join(', ')

interface RowProps extends Dated {
  /** Whether a due reminder was sent. */
  readonly state: string | null
  readonly onEdit: () => void
}

function SlotRow({ slot, next, state, onEdit }: RowProps) {
  const messages = words.value.schedule
  const goes = slot.enabled && next !== null && !hasEnded()
  return (
    <li class={goes ? undefined : 'quiet'}>
      <strong>{hourText(slot.hour)}</strong>
      <div class="grow">
        <p class="slot-text">{textOf(slot)}</p>
        <MostRead slot={slot} />
        {hasEnded() ? null : <p class="small">{slot.enabled ? nextText(next, state) : messages.off}</p>}
        <p class="small quiet">
          {words.value.messages.audiences[slot.audience]} · {daysOf(slot)}
        </p>
      </div>
      {hasEnded() ? (
        <span class="badge">{messages.notSent}</span>
      ) : level.value >= OWNER ? (
        <Button kind="plain" onClick={onEdit}>
          {messages.edit}
        </Button>
      ) : null}
    </li>
  )
}

function Additions({ bounds }: { readonly bounds: Bounds }) {
  const open = useSignal(false)
  const messages = words.value.schedule
  if (hasEnded()) return null
  if (level.value < OWNER) return null
  if (open.value) return <SlotForm slot={null} bounds={bounds} onClose={() => (open.value = false)} />
  return (
    <p>
      <Button onClick={() => (open.value = true)}>{messages.add}</Button>
    </p>
  )
}

// The form of a new or edited reminder. It shows the next sending and the number of recipients.

const TEXT_MAX = 5_000
const HOURS = Array.from({ length: 24 }, (_, hour) => hour)
const DAY_MS = 86_400_000

const newSlot = (): Slot => ({
  id: '',
  enabled: true,
  hour: 6,
  dates: [tomorrow()],
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

function SlotForm({ slot, bounds, onClose }: Props) {
  const messages = words.value.schedule
  const form = useRef<HTMLFormElement>(null)
  const draft = useSignal<Slot>(slot ?? newSlot())
  const seen = useRef(slot)
  // In a layout effect: a later one would take the focus from where the operator has moved it.
  useLayoutEffect(() => {
    form.current!.scrollIntoView({ block: 'start' })
    form.current!.querySelector('textarea')!.focus({ preventScroll: true })
  }, [])
  const change = (fields: Partial<Slot>) => (draft.value = { ...draft.value, ...fields })
  const save = ({ id, text: { en, ...others }, ...rest }: Slot): Promise<boolean> => {
    const english = en?.trim() ?? ''
    return saveSlot(
      {
        ...rest,
        id: seen.current?.id ?? (id || newSlotId(rest)),
        dates: rest.dates === null ? null : [...new Set(rest.dates)].toSorted(),
        text: { ...others, ...(english === '' ? {} : { en: english }) },
      },
      seen,
    )
  }
  const { busy, submit } = useSave(draft, save, onClose)
  const remove = async (removed: Slot) => {
    if (await removeSlot(removed)) onClose()
  }
  return (
    <form
      ref={form}
      class="slot-form"
      aria-label={slot === null ? messages.addTitle : messages.edit}
      onSubmit={(event) => {
        event.preventDefault()
        void submit()
      }}
    >
      <TextFields draft={draft.value} before={slot?.text ?? null} onChange={change} />
      <SlotDays dates={draft.value.dates} onChange={(dates) => change({ dates })} />
      <TimeAndAudience draft={draft.value} onChange={change} />
      <label class="row wide">
        <input
          type="checkbox"
          checked={draft.value.enabled}
          onChange={({ currentTarget }) => change({ enabled: currentTarget.checked })}
        />
        {messages.on}
      </label>
      <Sending draft={draft.value} bounds={bounds} isNew={slot === null} />
      <div class="row wide">
        <Button kind="primary" type="submit" busy={busy}>
          {words.value.common.save}
        </Button>
        <Button onClick={onClose}>{pageWords.value.close}</Button>
        {seen.current === null ? null : (
          <Button onClick={() => void remove(seen.current!)}>{messages.remove}</Button>
        )}
      </div>
    </form>
  )
}

const isEnglishOld = (text: Slot['text'], before: Slot['text'] | null): boolean =>
  (text.en ?? '') !== '' && text.en === before?.en && text['zh-Hant'] !== before?.['zh-Hant']

function TextFields({
  draft: { text },
  before,
  onChange,
}: FieldsProps & { readonly before: Slot['text'] | null }) {
  const messages = words.value.messages
  return (
    <>
      <Field
        long
        wide
        name="zh"
        required
        label={pageWords.value.aside(`${messages.text} · 繁體中文`, words.value.schedule.required)}
        maxLength={TEXT_MAX}
        value={text['zh-Hant']}
        onType={(typed) => onChange({ text: { ...text, 'zh-Hant': typed } })}
      />
      <Field
        long
        wide
        name="en"
        label={pageWords.value.aside(`${messages.text} · English`, words.value.schedule.optional)}
        maxLength={TEXT_MAX}
        value={text.en ?? ''}
        onType={(typed) => onChange({ text: { ...text, en: typed } })}
      >
        {isEnglishOld(text, before) ? (
          <strong class="small warn-text">{words.value.schedule.englishOld}</strong>
        ) : null}
      </Field>
    </>
  )
}

function TimeAndAudience({ draft: { hour, audience }, onChange }: FieldsProps) {
  const messages = words.value.messages
  return (
    <>
      <Choice
        name="hour"
        label={words.value.people.point.at}
        value={hour}
        options={HOURS.map((choice) => [choice, hourText(choice)])}
        onChoose={(choice) => onChange({ hour: choice })}
      />
      <Choice
        name="audience"
        label={messages.audience}
        value={audience}
        options={(Object.entries(messages.audiences) as [Slot['audience'] | 'inactive', string][]).flatMap(
          ([name, text]) => (name === 'inactive' ? [] : [[name, text] as const]),
        )}
        onChoose={(choice) => onChange({ audience: choice })}
      />
      <AudienceMeans of={audience} />
    </>
  )
}

interface SendingProps {
  readonly draft: Slot
  readonly bounds: Bounds
  readonly isNew: boolean
}

function Sending({ draft, bounds, isNew }: SendingProps) {
  const messages = words.value.schedule
  const { audience } = draft
  const count = useRecipients(audience)
  const next = nextSending(draft, now.value, bounds)
  const recipients = count.value.value
  const isConfigured = useLineConfigured()
  return (
    <output class="wide reminder-sending">
      <strong class={next === null ? 'warn-text' : undefined}>
        {next === null ? messages.never : next.running && isNew ? messages.atOnce : nextText(next)}
      </strong>
      {recipients === null ? (
        <span class="quiet">{absenceOf(count)}</span>
      ) : (
        <span>
          {[
            countedText(recipients),
            isConfigured ? '' : words.value.now.notConfigured,
            recipients.devices === 0 ? '' : pair(words.value.messages.devices, recipients.devices),
          ]
            .filter(Boolean)
            .join(' · ')}
        </span>
      )}
      {isNew ? null : <span class="small quiet">{messages.sentOnce}</span>}
    </output>
  )
}

const MOST_DAYS = 366
const tomorrow = (): string => dayOf(now.value + DAY_MS)
function following(dates: readonly string[]): string {
  const latest = dates
    .filter((day) => day !== '')
    .toSorted()
    .at(-1)
  return latest === undefined ? tomorrow() : dayAfter(latest)
}

interface DaysProps {
  /** Null: every day of the event. */
  readonly dates: readonly string[] | null
  readonly onChange: (dates: string[] | null) => void
}

function SlotDays({ dates, onChange }: DaysProps) {
  const messages = words.value.schedule
  return (
    <div class="wide slot-when">
      <Segments
        label={messages.when}
        value={dates === null ? 'every' : 'some'}
        options={[
          { value: 'some', text: messages.someDays },
          { value: 'every', text: messages.everyDay },
        ]}
        onChoose={(kind) => onChange(kind === 'every' ? null : (dates?.slice() ?? [tomorrow()]))}
      />
      {dates === null ? null : <Days dates={dates} onChange={onChange} />}
    </div>
  )
}

function Days({ dates, onChange }: DaysProps & { readonly dates: readonly string[] }) {
  const messages = words.value.schedule
  return (
    <fieldset class="slot-days">
      <legend class="small">{messages.days}</legend>
      {dates.map((day, i) => (
        // A date is identified by its position: two may be equal while one is being typed.
        <span key={i} class="slot-day">
          <input
            type="date"
            required
            aria-label={`${words.value.reports.day} ${i + 1}`}
            value={day}
            onInput={({ currentTarget }) => onChange(dates.with(i, currentTarget.value))}
          />
          {dates.length === 1 ? null : (
            <Button
              kind="plain"
              icon
              label={`${messages.remove} ${i + 1}`}
              onClick={() => onChange(dates.toSpliced(i, 1))}
            >
              ✕
            </Button>
          )}
        </span>
      ))}
      {dates.length < MOST_DAYS ? (
        <Button kind="plain" onClick={() => onChange([...dates, following(dates)])}>
          {messages.addDay}
        </Button>
      ) : null}
    </fieldset>
  )
}

type Slot = Data<'readNotifications'>['slots'][number]
type Sent = Data<'listMessages'>['items'][number]

const HOUR_MS = 3_600_000

/** The event's period, epoch milliseconds: outside it nothing is sent. */
interface Bounds {
  readonly startsMs: number
  readonly endsMs: number
}

interface NextSending {
  readonly atMs: number
  /** Its hour has begun: it was sent, or is sent within a minute. */
  readonly running: boolean
}

const dayAfter = (day: string): string => new Date(Date.parse(day) + DAY_MS).toISOString().slice(0, 10)

/** When the scheduler sends it next; null: never again. A reminder is due during its whole hour. */
function nextSending(
  { hour, dates }: Pick<Slot, 'hour' | 'dates'>,
  nowMs: number,
  { startsMs, endsMs }: Bounds,
): NextSending | null {
  const fromMs = Math.max(nowMs, startsMs)
  const first = dayOf(fromMs)
  // Ignore a day that is still being typed.
  const days = dates?.filter((day) => day !== '').toSorted() ?? [first, dayAfter(first)]
  for (const day of days) {
    const beginMs = Date.parse(instantOf(`${day}T${hourText(hour)}`))
    if (beginMs + HOUR_MS <= fromMs) continue
    const atMs = Math.max(beginMs, startsMs)
    return atMs >= endsMs ? null : { atMs, running: beginMs <= nowMs && startsMs <= nowMs }
  }
  return null
}

/** The next sending as text: `Next: tomorrow, Tue, Nov 24, 06:00`. */
function nextText(next: NextSending | null, state: string | null = null): string {
  const messages = words.value.schedule
  if (next === null) return messages.notSent
  if (next.running) {
    const since = `${messages.running} ${minute(next.atMs)}`
    return state === null ? since : pageWords.value.aside(since, state)
  }
  return pair(messages.next, [comingDay(dayOf(next.atMs)), minute(next.atMs)].join(words.value.common.comma))
}

/**
 * Id of a new reminder in the service's list and in the audit log. Its end is random: the service sends each
 * id once a day, and a new reminder must not reuse the id of a removed one.
 */
function newSlotId({ hour, dates }: Pick<Slot, 'hour' | 'dates'>): string {
  const when = dates === null ? 'daily' : dates.toSorted()[0]!
  return `${when}-${String(hour).padStart(2, '0')}-${crypto.randomUUID().slice(0, 4)}`
}

// Changes of the schedule. The service replaces it as a whole, so each change is applied to the current
// list.

type Change = (slots: readonly Slot[]) => readonly Slot[]

/** The reminder as the operator saw it; null: a new one. After a conflict the operator may replace the other version. */
interface Seen {
  current: Slot | null
}

/** Reads the current list first, so that changes of other operators are kept. */
async function change(seen: Seen, made: Change): ReturnType<typeof client.setNotifications> {
  const plan = await client.readNotifications()
  if (!plan.ok) return plan
  const { slots, changed_at } = plan.data
  const before = seen.current
  const stored = slots.find(({ id }) => id === before?.id)
  if (before !== null && JSON.stringify(stored) !== JSON.stringify(before)) {
    seen.current = stored ?? null
    return {
      ok: false,
      error: {
        status: 409,
        code: 'conflict',
        message: words.value.schedule.changed(stored && textOf(stored)),
      },
    }
  }
  return client.setNotifications({ slots: [...made(slots)], seen: changed_at })
}

/** @returns whether it was saved */
async function saveSlot(slot: Slot, seen: Seen): Promise<boolean> {
  const plan = await act(
    change(seen, (slots) =>
      slots.some(({ id }) => id === slot.id)
        ? slots.map((stored) => (stored.id === slot.id ? slot : stored))
        : [...slots, slot],
    ),
    () => words.value.common.saved,
  )
  if (plan !== null) seen.current = plan.slots.find(({ id }) => id === slot.id) ?? null
  return plan !== null
}

/** Removes a reminder; this can be undone. @returns whether it was removed */
async function removeSlot(slot: Slot): Promise<boolean> {
  const messages = words.value.schedule
  const done = await act(
    change({ current: slot }, (slots) => slots.filter(({ id }) => id !== slot.id)),
    () => pair(messages.removed, textOf(slot)),
    () => ({
      action: { name: messages.undo, run: () => void saveSlot(slot, { current: null }) },
      group: 'schedule',
    }),
  )
  return done !== null
}
