/** Changes of the schedule. The service takes it as a whole, so each is made to the list as it is now. */
import { fill, words } from '../../words.ts'
import { act } from '../../parts/act.ts'
import { client } from '../../session.ts'
import type { Slot } from './slot.ts'

type Change = (slots: readonly Slot[]) => readonly Slot[]

/** Reads the list, so that what another operator has saved meanwhile stays. */
async function change(made: Change): ReturnType<typeof client.setNotifications> {
  const plan = await client.readNotifications()
  return plan.ok ? client.setNotifications({ slots: [...made(plan.data.slots)] }) : plan
}

/** @returns whether it was done */
const save = async (made: Change): Promise<boolean> =>
  (await act(change(made), ({ slots }) => fill(words.value.schedule.saved, { count: slots.length }))) !== null

/** Adds a reminder, or replaces the one of that name. */
export const saveSlot = (slot: Slot): Promise<boolean> =>
  save((slots) =>
    slots.some(({ id }) => id === slot.id)
      ? slots.map((one) => (one.id === slot.id ? slot : one))
      : [...slots, slot],
  )

/** It can be taken back. */
export async function removeSlot(slot: Slot, text: string): Promise<void> {
  const said = words.value.schedule
  await act(
    change((slots) => slots.filter(({ id }) => id !== slot.id)),
    ({ slots }) => fill(said.removed, { text, count: slots.length }),
    { action: { name: said.undo, run: () => void saveSlot(slot) }, group: 'schedule' },
  )
}
