/** A scheduled reminder, and when it is sent next. */
import type { Data } from '#shared/client/index.ts'
import { comingDay, dayOf, instantOf, minute } from '../../clock.ts'
import { pair, words } from '../../words.ts'
import { act } from '../../parts/actions.tsx'
import { client } from '../../session.ts'

export type Slot = Data<'readNotifications'>['slots'][number]

const HOUR_MS = 3_600_000

/** From when to when the event is, epoch milliseconds: outside of it nothing is sent. */
export interface Bounds {
  readonly startsMs: number
  readonly endsMs: number
}

export interface NextSending {
  readonly atMs: number
  /** Its hour has begun. It was sent, or is sent within a minute. */
  readonly running: boolean
}

export const hourText = (hour: number): string => `${String(hour).padStart(2, '0')}:00`

const dayAfter = (day: string): string => new Date(Date.parse(day) + 24 * HOUR_MS).toISOString().slice(0, 10)

/** When the scheduler sends it next; null: never again. A reminder is due for the whole of its hour. */
export function nextSending(
  { hour, dates }: Pick<Slot, 'hour' | 'dates'>,
  nowMs: number,
  { startsMs, endsMs }: Bounds,
): NextSending | null {
  const fromMs = Math.max(nowMs, startsMs)
  const first = dayOf(fromMs)
  // A day that is being typed is none yet.
  const days = dates?.filter((day) => day !== '').toSorted() ?? [first, dayAfter(first)]
  for (const day of days) {
    const beginMs = Date.parse(instantOf(`${day}T${hourText(hour)}`))
    if (beginMs + HOUR_MS <= fromMs) continue
    const atMs = Math.max(beginMs, startsMs)
    return atMs >= endsMs ? null : { atMs, running: beginMs <= nowMs && startsMs <= nowMs }
  }
  return null
}

/** In words: `Next: tomorrow, Tue, Nov 24, 06:00`. */
export function nextText(next: NextSending | null): string {
  const said = words.value.schedule
  if (next === null) return said.notSent
  if (next.running) return `${said.running} ${minute(next.atMs)}`
  return pair(said.next, [comingDay(dayOf(next.atMs)), minute(next.atMs)].join(words.value.common.comma))
}

/**
 * Name of a new reminder in the service's list and in the audit log. Its end is random: the service sends no name twice
 * on a day, and a new reminder is not one that was removed.
 */
export function newSlotId({ hour, dates }: Pick<Slot, 'hour' | 'dates'>): string {
  const when = dates === null ? 'daily' : dates.toSorted()[0]
  return `${when}-${String(hour).padStart(2, '0')}-${crypto.randomUUID().slice(0, 4)}`
}

// Changes of the schedule. The service takes it as a whole, so each is made to the list as it is now.

type Change = (slots: readonly Slot[]) => readonly Slot[]

/** Reads the list, so that what another operator has saved meanwhile stays. */
async function change(made: Change): ReturnType<typeof client.setNotifications> {
  const plan = await client.readNotifications()
  return plan.ok ? client.setNotifications({ slots: [...made(plan.data.slots)] }) : plan
}

/** @returns whether it was done */
const save = async (made: Change): Promise<boolean> =>
  (await act(change(made), () => words.value.common.saved)) !== null

/** Adds a reminder, or replaces the one of that name. */
export const saveSlot = (slot: Slot): Promise<boolean> =>
  save((slots) =>
    slots.some(({ id }) => id === slot.id)
      ? slots.map((one) => (one.id === slot.id ? slot : one))
      : [...slots, slot],
  )

/** It can be taken back. @returns whether it was done */
export async function removeSlot(slot: Slot, text: string): Promise<boolean> {
  const said = words.value.schedule
  const done = await act(
    change((slots) => slots.filter(({ id }) => id !== slot.id)),
    () => pair(said.removed, text),
    { action: { name: said.undo, run: () => void saveSlot(slot) }, group: 'schedule' },
  )
  return done !== null
}
