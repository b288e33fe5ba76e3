/** What an entry of the audit log says, in words: about whom, and what was changed to what. */
import type { Data } from '#shared/client/index.ts'
import { number } from '../../clock.ts'
import { endOfId, PilgrimLink } from '../../parts/pilgrim-link.tsx'
import { fill, words } from '../../words.ts'
import { scheduleText } from './audit-schedule.ts'

type Entry = Data<'listAudit'>['items'][number]
type Details = Entry['details']

/** In the place of an id that was erased stands its hash. */
const HASH = /^[0-9a-f]{40}$/

export function AuditDetails({ entry }: { readonly entry: Entry }) {
  const said = saidOf(entry)
  return (
    <span title={rawText(entry.details)}>
      <Pilgrim entry={entry} /> {said}
    </span>
  )
}

/** Whom the entry is about. The name leads to the pilgrim. */
function Pilgrim({ entry: { details, display_name } }: { readonly entry: Entry }) {
  const { user_id: userId, user_hash: hash } = details
  if (typeof hash === 'string' || (typeof userId === 'string' && HASH.test(userId)))
    return <em class="quiet">{words.value.house.erasedPilgrim}</em>
  if (typeof userId !== 'string') return null
  return (
    <>
      <PilgrimLink userId={userId} name={display_name} />
      {/* Two people may have one name. */}
      {display_name === null ? null : <span class="small quiet"> …{endOfId(userId)}</span>}
    </>
  )
}

/** A value's name among words; a new release may know more values. */
const named = (names: Readonly<Record<string, string>>, value: unknown): string =>
  typeof value === 'string' ? (Object.hasOwn(names, value) ? names[value]! : value) : ''

const quoted = (text: unknown): string => (typeof text === 'string' && text !== '' ? `“${text}”` : '')

const roleName = (role: unknown): string =>
  role === null ? words.value.people.noRole : named(words.value.roles, role)

const change = (from: string, to: string): string => (from === to ? to : `${from} → ${to}`)

const letter = ({ id }: Details): string => `#${String(id)}`

type Say = (details: Details) => readonly string[]

const SAY: Readonly<Record<string, Say>> = {
  'set-status': ({ status, message }) => [named(words.value.bar.status, status), quoted(message)],
  'set-status-message': ({ message }) => [quoted(message) || words.value.house.noMessage],
  'end-activity': ({ from }) => [change(named(words.value.bar.status, from), words.value.bar.status.ended)],
  push: ({ audience, recipients, message, forced }) => [
    named(words.value.messages.audiences, audience),
    fill(words.value.house.toSoMany, { count: number(Number(recipients)) }),
    quoted(message),
    forced === true ? words.value.house.forced : '',
  ],
  'set-notifications': scheduleText,
  'set-user-status': ({ status }) => [named(words.value.people.status, status)],
  'assign-role': ({ role, before }) => [change(roleName(before), roleName(role))],
  'update-feedback': (details) => [
    letter(details),
    change(
      named(words.value.feedback.columns, details.from),
      named(words.value.feedback.columns, details.status),
    ),
    details.note_changed === true ? words.value.house.noteChanged : '',
  ],
  'export-user': ({ format }) => [fileType(format)],
  'export-surveys': ({ format }) => [fileType(format)],
  'erase-user': () => [],
  'replay-dead-letter': (details) => [letter(details), named(words.value.house.outcomes, details.outcome)],
  'drop-dead-letter': (details) => [letter(details)],
  'deploy-richmenu': ({ menus }) => [
    fill(words.value.house.menusTold, { count: Array.isArray(menus) ? menus.length : 0 }),
  ],
  reset: ({ state }) => [named(words.value.house.resetStates, state)],
}

const fileType = (format: unknown): string => (typeof format === 'string' ? format.toUpperCase() : '')

/** What is not about the pilgrim. Of an action that is new here, the details as they are. */
function saidOf({ action, details }: Entry): string {
  const say = Object.hasOwn(SAY, action) ? SAY[action] : undefined
  if (say !== undefined)
    return say(details)
      .filter((part) => part !== '')
      .join(' · ')
  const { user_id: _, ...rest } = details
  return rawText(rest)
}

const rawText = (details: Details): string =>
  Object.entries(details)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ')
