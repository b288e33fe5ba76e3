/** Messages: compose, sent messages, and the schedule. */
import type { Data } from '#shared/client/index.ts'
import { figure } from '#shared/locales/units.ts'
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { date } from '../../clock.ts'
import { Listed, PagedList } from '../../parts/paged-list.tsx'
import { Await, Stamp, useStale } from '../../parts/panel.tsx'
import { PilgrimLink } from '../../parts/pilgrim-link.tsx'
import { type Resource, useResource } from '../../resource.ts'
import { client } from '../../session.ts'
import { Compose } from './compose.tsx'
import { LeftOutPeople, Reason, leftOutText } from './left-out-people.tsx'
import { Schedule } from './schedule.tsx'
import { nameOf, pair, words } from '../../words.ts'
import { Button } from '../../../design/button.tsx'

export const Messages = () => (
  <div class="view messages">
    <Compose />
    <SentMessages />
    <Schedule />
  </div>
)

type Message = Data<'listMessages'>['items'][number]
type Named = Data<'readPush'>['faults'][number]['people'][number]

const EVERY_MS = 15_000
/** Polling interval while a message is being sent. */
const SOON_MS = 4_000
const QUERY = { limit: 20 }

const SentMessages = () => (
  <PagedList
    title={words.value.messages.ledger}
    kind="sent-messages"
    query={QUERY}
    read={client.listMessages}
    everyMs={EVERY_MS}
    lead={<Usage />}
  >
    {({ items }, list) => (
      <>
        <Soon list={list} />
        <Listed>
          {items.map((message) => (
            <Sent key={message.id} message={message} />
          ))}
        </Listed>
      </>
    )}
  </PagedList>
)

function Soon({ list: { value, reload } }: { readonly list: Resource<Data<'listMessages'>> }) {
  const page = value.value
  useEffect(() => {
    if (!page?.items.some(({ state }) => state === 'sending')) return undefined
    const timer = setTimeout(() => void reload(), SOON_MS)
    return () => clearTimeout(timer)
  }, [page, reload])
  return null
}

const isToNobody = ({ recipients, state, web_push: { sent, waiting } }: Message): boolean =>
  state === 'sent' && recipients === 0 && sent + waiting === 0

const toneOf = (message: Message): string => {
  const { failed, state } = message
  if (isToNobody(message)) return ''
  return failed > 0 ? 'danger' : { sending: 'warning', sent: 'good', skipped: '', expired: '' }[state]
}

const stateOf = (message: Message): string => {
  const messages = words.value.messages
  const { failed, state } = message
  if (isToNobody(message)) return messages.toNobody
  return failed > 0 && state === 'sent' ? messages.partlySent : messages.states[state]
}

function audienceOf({ audience }: Message): string {
  const messages = words.value.messages.audiences
  const name = audience['audience']
  if (typeof name === 'string') return nameOf(messages, name)
  const ids = audience['user_ids']
  return Array.isArray(ids) ? words.value.messages.chosenPeople(ids.length) : ''
}

function Sent({ message }: { readonly message: Message }) {
  const messages = words.value.messages
  const open = useSignal(false)
  return (
    <li class="sent">
      <div class="grow">
        <p class="row">
          <span class={`badge ${toneOf(message)}`}>{stateOf(message)}</span>
          <strong>{messages.causes[message.cause]}</strong>
          <span class="small quiet">
            {date(message.created_at)} {audienceOf(message)}{' '}
            {message.created_by === null ? null : `${words.value.common.by} ${message.created_by}`}
          </span>
        </p>
        <p class="sent-text">{message.text ?? (message.cause === 'push' ? '–' : messages.ownText)}</p>
        <p class="row small">
          {message.recipients === 0 ? null : progressText(message)}
          <Devices progress={message.web_push} />
          <Button kind="plain" aria-expanded={open.value} onClick={() => (open.value = !open.value)}>
            {messages.leftOutTitle}
          </Button>
        </p>
        {open.value ? <Faults id={message.id} /> : null}
      </div>
    </li>
  )
}

const Devices = ({ progress }: { readonly progress: Message['web_push'] }) => {
  const text = progressText(progress)
  return text === '' ? null : <span>Web Push {text}</span>
}

/** `2 / 3 sent, 1 failed`; empty without recipients. */
export function progressText({ sent, waiting, failed }: Message['web_push']): string {
  const messages = words.value.people.messageStates
  const all = sent + waiting + failed
  if (all === 0) return ''
  return [
    `${figure(sent)} / ${figure(all)} ${messages.sent}`,
    ...(failed === 0 ? [] : [`${figure(failed)} ${messages.failed}`]),
    ...(waiting === 0 ? [] : [`${figure(waiting)} ${messages.waiting}`]),
  ].join(words.value.common.comma)
}

function Faults({ id }: { readonly id: string }) {
  const messages = words.value.messages
  const progress = useResource(client.readPush, 0, 'push', { id })
  return (
    <Await from={progress}>
      {({ faults, left_out }) => (
        <ul class="small faults">
          {faults.map(({ detail, recipients, people }) => (
            <li key={detail}>
              {figure(recipients)} · <Reason detail={detail} />
              <To people={people} more={recipients - people.length} />
            </li>
          ))}
          {leftOutText(left_out) === '' ? (
            faults.length === 0 ? (
              <li>{words.value.common.none}</li>
            ) : null
          ) : (
            <li>
              {leftOutText(left_out)}
              <p class="quiet">{messages.leftOutWhy}</p>
              <LeftOutPeople of={{ message: id }} />
            </li>
          )}
        </ul>
      )}
    </Await>
  )
}

const To = ({ people, more }: { readonly people: readonly Named[]; readonly more: number }) => (
  <p class="row wraps">
    {people.map(({ userId, display_name }) => (
      <PilgrimLink key={userId} userId={userId} name={display_name} />
    ))}
    {more > 0 ? `+${figure(more)}` : null}
  </p>
)

const USAGE_EVERY_MS = 300_000

function Usage() {
  const messages = words.value.messages
  const read = useResource(client.readLineUsage, USAGE_EVERY_MS, 'usage')
  const stale = useStale(read)
  const usage = read.value.value
  if (usage === null) return null
  if (!usage.configured) return <p class="small quiet">{words.value.now.notConfigured}</p>
  const { quota, consumption, usage_percent } = usage
  return (
    <p class="row small quiet">
      {quota.value === null || usage_percent === null ? (
        <span>{pair(messages.quota, messages.unlimited)}</span>
      ) : (
        <>
          <meter min={0} max={100} high={90} value={usage_percent} aria-label={messages.quota} />
          <span>
            {figure(consumption.total_usage ?? 0)} / {figure(quota.value)} ({figure(usage_percent)} %)
          </span>
        </>
      )}
      <Stamp at={read.at.value} stale={stale} />
    </p>
  )
}
