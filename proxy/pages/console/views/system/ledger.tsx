import { figure } from '#shared/locales/units.ts'
import { date } from '../../clock.ts'
import { PanelFrom } from '../../parts/panel.tsx'
import type { Resource } from '../../resource.ts'
import { client, level, OWNER } from '../../session.ts'
import { pair, words } from '../../words.ts'
import { useSignal } from '@preact/signals'
import type { Data } from '#shared/client/index.ts'
import { Button } from '../../../design/button.tsx'
import { showToast } from '../../../design/toast.tsx'
import { act, Confirm } from '../../parts/actions.tsx'
import { PilgrimLink } from '../../parts/pilgrim-link.tsx'
import { PagedList } from '../../parts/paged-list.tsx'

const EVERY_MS = 20_000
const COUNTERS = [
  'received',
  'stored',
  'pending',
  'journaled',
  'duplicate',
  'dead_letter',
  'erased',
  'in_flight',
  'lost',
] as const

/** Why points were rejected; a new release may know more reasons. */
function reasonName(reason: string): string {
  const names: Readonly<Record<string, string>> = words.value.system.reasons
  return names[reason] ?? reason
}

/** What became of every point. */
export function Ledger({ condition }: { readonly condition: Resource<Data<'readCondition'>> }) {
  const said = words.value.system
  return (
    <PanelFrom title={said.ledger} kind="ledger" from={condition} actions={<FlushNow />}>
      {({ ledger, kv_memory }) => (
        <>
          <table>
            <tbody>
              {ledger === null ? (
                <tr>
                  <td class="quiet">{words.value.common.unknown}</td>
                </tr>
              ) : (
                COUNTERS.filter((name) => ledger[name] > 0 || name === 'stored').map((name) => (
                  <tr key={name} class={name === 'lost' && ledger.lost > 0 ? 'problem' : undefined}>
                    <th scope="row">{said.ledgerNames[name]}</th>
                    <td class="number">{figure(ledger[name])}</td>
                  </tr>
                ))
              )}
              {Object.entries(ledger?.rejected ?? {}).map(([reason, points]) => (
                <tr key={reason}>
                  <th scope="row">{pair(said.ledgerNames.rejected, reasonName(reason))}</th>
                  <td class="number">{figure(points)}</td>
                </tr>
              ))}
            </tbody>
          </table>
          <p class="row small">
            {kv_memory === null || kv_memory === 0 ? null : (
              <span>{pair(words.value.now.memory, percent(kv_memory))}</span>
            )}
          </p>
        </>
      )}
    </PanelFrom>
  )
}

/** `12.3 %` of a fraction. */
const percent = (fraction: number): string => `${figure(fraction * 100)} %`

/** `Stored: 120`, and how many were refused. */
function storedText(stored: number, letters: number): string {
  const said = words.value.system.ledgerNames
  return [
    pair(said.stored, figure(stored)),
    ...(letters === 0 ? [] : [pair(said.dead_letter, letters)]),
  ].join(words.value.common.comma)
}

/** Flushes the buffer and says what was stored. */
function FlushNow() {
  const busy = useSignal(false)
  const said = words.value.now
  const flush = async () => {
    busy.value = true
    await act(client.forceFlush({}, { timeoutMs: 40_000 }), ({ finished, stored, dead_letters }) =>
      finished ? storedText(stored, dead_letters) : said.flushing,
    )
    busy.value = false
  }
  return (
    <Button busy={busy.value} onClick={() => void flush()}>
      {said.flushNow}
    </Button>
  )
}

type Letter = Data<'listDeadLetters'>['items'][number]

const QUERY = { limit: 20 }

/** Points that the database refused: look, requeue, drop. */
export function DeadLetters() {
  const said = words.value.system
  return (
    <PagedList
      title={said.letters}
      kind="dead-letters"
      query={QUERY}
      read={client.listDeadLetters}
      everyMs={EVERY_MS}
    >
      {({ items }) => (
        <>
          <p class="small quiet">{items.length === 0 ? words.value.common.none : said.lettersHelp}</p>
          <ul class="rows">
            {items.map((letter) => (
              <LetterRow key={letter.id} letter={letter} />
            ))}
          </ul>
        </>
      )}
    </PagedList>
  )
}

function LetterRow({ letter }: { readonly letter: Letter }) {
  const said = words.value.system
  const open = useSignal(false)
  const requeue = () =>
    act(client.requeueDeadLetter({ id: letter.id }), ({ outcome }) => said.outcomes[outcome])
  return (
    <li class="letter">
      <div class="grow">
        <p>
          <strong>#{letter.id}</strong> {letter.reason}
        </p>
        <p class="small quiet">
          <PilgrimLink userId={letter.userId} name={letter.userId} /> · {date(letter.refused_at)} ·{' '}
          {said.refusals(letter.refusals)}
        </p>
        {open.value ? (
          <pre class="small">
            {letter.field} {letter.value}
          </pre>
        ) : null}
      </div>
      <div class="row-actions">
        <Button kind="plain" aria-expanded={open.value} onClick={() => (open.value = !open.value)}>
          {said.look}
        </Button>
        <Button onClick={() => void requeue()}>{said.requeue}</Button>
        {level.value >= OWNER ? <Drop letter={letter} /> : null}
      </div>
    </li>
  )
}

function Drop({ letter }: { readonly letter: Letter }) {
  const said = words.value.system
  const asking = useSignal(false)
  return (
    <>
      <Button kind="danger" onClick={() => (asking.value = true)}>
        {said.drop}
      </Button>
      <Confirm
        title={said.dropTitle}
        open={asking.value}
        onClose={() => (asking.value = false)}
        button={said.drop}
        danger
        typed={`#${letter.id}`}
        run={() => client.dropDeadLetter({ id: letter.id })}
        onDone={() => showToast(said.dropped, { forMs: 6_000 })}
      >
        <p>{said.dropText}</p>
      </Confirm>
    </>
  )
}
