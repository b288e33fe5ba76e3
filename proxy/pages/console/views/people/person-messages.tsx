import { date } from '../../clock.ts'
import { PanelFrom } from '../../parts/panel.tsx'
import { useResource } from '../../resource.ts'
import { client } from '../../session.ts'
import { words } from '../../words.ts'
import { Reason } from '../messages/reason.tsx'

const TONES = { sent: 'good', failed: 'danger', waiting: 'warning', skipped: '' } as const

/** Messages to one pilgrim, and why one failed. */
export function PersonMessages({ userId }: { readonly userId: string }) {
  const list = useResource(
    (signal) => client.listUserMessages({ userId }, { signal }),
    0,
    `messages ${userId}`,
  )
  return (
    <PanelFrom title={words.value.people.tabs.messages} kind="inner" from={list}>
      {({ items }) => (
        <ul class="rows">
          {items.map((message) => (
            <li key={message.id}>
              <span class="small quiet">{date(message.created_at)}</span>
              <span class={`badge ${TONES[message.state]}`}>
                {words.value.people.messageStates[message.state]}
              </span>
              <span class="grow">
                {message.text ?? words.value.messages.noText}
                {message.detail === null ? null : (
                  <span class="small warn-text">
                    {' '}
                    <Reason detail={message.detail} />
                  </span>
                )}
              </span>
              <span class="small quiet">{words.value.messages.causes[message.cause]}</span>
            </li>
          ))}
          {items.length === 0 ? <li class="quiet">{words.value.people.noMessages}</li> : null}
        </ul>
      )}
    </PanelFrom>
  )
}
