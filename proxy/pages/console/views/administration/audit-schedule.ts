/** What an entry of the audit log says about a change of the schedule. */
import { fill, ownName, words } from '../../words.ts'

/** As the service writes it; an entry of an older release has the slots alone. */
interface Change {
  readonly id: string
  readonly hour: number
  readonly change: 'added' | 'removed' | 'changed'
  readonly fields?: Readonly<Record<string, { readonly from: unknown; readonly to: unknown } | undefined>>
  readonly texts?: Readonly<Record<string, string | null>>
}

interface Slot {
  readonly id: string
  readonly hour: number
  readonly enabled: boolean
}

const hourText = (hour: unknown): string => `${String(hour).padStart(2, '0')}:00`

const turned = (enabled: unknown): string =>
  enabled === true ? words.value.schedule.on : words.value.schedule.off

const daysText = (dates: unknown): string =>
  Array.isArray(dates) ? dates.join(', ') : words.value.schedule.everyDay

const audienceText = (audience: unknown): string => {
  const names: Readonly<Record<string, string>> = words.value.messages.audiences
  return names[String(audience)] ?? String(audience)
}

const FIELDS: Readonly<Record<string, (value: unknown) => string>> = {
  hour: hourText,
  enabled: turned,
  dates: daysText,
  audience: audienceText,
}

function changeText({ hour, change, fields = {}, texts = {} }: Change): string {
  const said = words.value.house
  const parts = [
    ...Object.entries(FIELDS).flatMap(([name, text]) => {
      const field = fields[name]
      return field === undefined ? [] : [`${text(field.from)} → ${text(field.to)}`]
    }),
    ...Object.entries(texts).map(
      ([language, text]) => `${ownName(language)}: ${text === null ? said.textTaken : `“${text}”`}`,
    ),
  ]
  return fill(said.slotChanges[change], { hour: hourText(hour), what: parts.join(', ') })
}

const slotText = ({ id, hour, enabled }: Slot): string => `${hourText(hour)} ${id}: ${turned(enabled)}`

/** What was added, removed and changed; of an older entry, the schedule as it was left. */
export function scheduleText({ slots, changes }: Readonly<Record<string, unknown>>): readonly string[] {
  if (Array.isArray(changes))
    return changes.length === 0
      ? [words.value.house.scheduleUnchanged]
      : (changes as readonly Change[]).map(changeText)
  return Array.isArray(slots) ? (slots as readonly Slot[]).map(slotText) : []
}
