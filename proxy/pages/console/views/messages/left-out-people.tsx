/** People whom LINE does not reach, by name. */
import { figure } from '#shared/locales/units.ts'
import type { Data, Input } from '#shared/client/index.ts'
import { showToast } from '../../../design/toast.tsx'
import { dayOf, now } from '../../clock.ts'
import { BusyButton, warn } from '../../parts/actions.tsx'
import { fileName, saveCsv } from '../../parts/download.ts'
import { Listed, PagedList } from '../../parts/paged-list.tsx'
import { sentenceOf } from '../../parts/panel.tsx'
import { PilgrimLink } from '../../parts/pilgrim-link.tsx'
import { type Resource, useResource } from '../../resource.ts'
import { client } from '../../session.ts'
import { pair, words } from '../../words.ts'

type Person = Data<'listLeftOut'>['items'][number]

const PAGE = 20
/** `Left out: 2 has opted out, 12 does not use LINE`; empty if there are none. */
export function leftOutText(counts: Data<'sendPush'>['left_out']): string {
  const { leftOut, leftOutReasons } = words.value.messages
  const some = (['unreachable', 'withdrawn', 'no_line_id'] as const)
    .filter((reason) => counts[reason] > 0)
    .map((reason) => `${figure(counts[reason])} ${leftOutReasons[reason]}`)
  return some.length === 0 ? '' : pair(leftOut, some.join(words.value.common.comma))
}

/** Number of recipients and cost of a message: a dry run, which sends nothing. */
export const useRecipients = (audience: Input<'sendPush'>['audience']): Resource<Data<'sendPush'>> =>
  useResource(client.sendPush, 0, 'recipients', { audience, text: '·', dry_run: true })

/** Whether LINE is configured; true until the service reports otherwise. */
export const useLineConfigured = (): boolean =>
  useResource(client.readLineUsage, 0, 'line-configured').value.value?.configured ?? true

/**
 * Pages of the export, each with as many people as the service returns at once. More calls would exceed the
 * token's rate limit.
 */
const FILE_PAGES = 5
const FILE_PAGE = 200

/** @param of the message or audience whose left-out people are listed */
export const LeftOutPeople = ({ of }: { readonly of: Input<'listLeftOut'> }) => (
  <PagedList
    title={words.value.messages.leftOutNames}
    kind="left-out-people"
    query={{ ...of, limit: PAGE }}
    read={client.listLeftOut}
    everyMs={0}
    actions={<NamesFile of={of} />}
  >
    {({ items }) => (
      <Listed>
        {items.map((person) => (
          <LeftOutPerson key={person.userId} person={person} />
        ))}
      </Listed>
    )}
  </PagedList>
)

function LeftOutPerson({ person: { userId, display_name, reason, devices } }: { readonly person: Person }) {
  const messages = words.value.messages
  return (
    <li>
      <span class="grow">
        <PilgrimLink userId={userId} name={display_name} />{' '}
        <span class="quiet">
          {messages.leftOutReasons[reason]}
          {devices === 0 ? null : ` · ${pair(messages.devices, figure(devices))}`}
        </span>
      </span>
    </li>
  )
}

function NamesFile({ of }: { readonly of: Input<'listLeftOut'> }) {
  const messages = words.value.messages
  const save = async () => {
    const people: Person[] = []
    let cursor: string | null = null
    for (let page = 0; page < FILE_PAGES && (page === 0 || cursor !== null); page++) {
      const answer = await client.listLeftOut({
        ...of,
        limit: FILE_PAGE,
        ...(cursor === null ? {} : { cursor }),
      })
      if (!answer.ok) return warn(answer.error, sentenceOf)
      people.push(...answer.data.items)
      cursor = answer.data.next_cursor
    }
    saveCsv(rowsOf(people), fileName('no-line-message', dayOf(now.peek()), 'csv'))
    if (cursor !== null) showToast(pair(messages.leftOutFileCut, figure(people.length)), { warning: true })
  }
  return <BusyButton run={save}>{messages.leftOutFile}</BusyButton>
}

const rowsOf = (people: readonly Person[]) => [
  ['user_id', 'name', 'reason', 'web_push_devices'],
  ...people.map(({ userId, display_name, reason, devices }) => [
    userId,
    display_name,
    words.value.messages.leftOutReasons[reason],
    devices,
  ]),
]

type Known = keyof typeof words.value.messages.reasons

/** Messages of LINE and the sender, mapped to their meaning for an operator. The first match counts. */
const KNOWN: readonly (readonly [RegExp, Known])[] = [
  [/^not confirmed within a day/, 'unconfirmed'],
  [/^no recipients are left/, 'erased'],
  [/monthly (quota|limit)/i, 'quota'],
  [/'to'|user ?id/i, 'recipient'],
]

/** Why a message failed or is waiting: translated if known, otherwise the original text. */
export function Reason({ detail }: { readonly detail: string }) {
  const known = KNOWN.find(([pattern]) => pattern.test(detail))?.[1]
  if (known === undefined) return <>{detail}</>
  return (
    <>
      {words.value.messages.reasons[known]}
      <details>
        <summary>{words.value.messages.leftOutTitle}</summary>
        <code class="quiet">{detail}</code>
      </details>
    </>
  )
}
