import { number, date } from '../../clock.ts'
import { PanelFrom } from '../../parts/panel.tsx'
import { useResource } from '../../resource.ts'
import { client, level, OWNER } from '../../session.ts'
import { words, fill } from '../../words.ts'
import { BackupAge } from '../now/parts.tsx'
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
  const names: Readonly<Record<string, string>> = words.value.house.reasons
  return names[reason] ?? reason
}

/** What became of every point, and how old the backup is. */
export function LedgerAndBackup() {
  const condition = useResource((signal) => client.readCondition({}, { signal }), EVERY_MS, 'condition')
  const said = words.value.house
  return (
    <PanelFrom title={said.ledger} kind="ledger" from={condition}>
      {({ ledger, backup_at }) => (
        <>
          <p class="small quiet">{said.ledgerHelp}</p>
          <table>
            <tbody>
              {ledger === null ? (
                <tr>
                  <td class="quiet">{words.value.common.unknown}</td>
                </tr>
              ) : (
                COUNTERS.map((name) => (
                  <tr key={name} class={name === 'lost' && ledger.lost > 0 ? 'problem' : undefined}>
                    <th scope="row">{said.ledgerNames[name]}</th>
                    <td class="number">{number(ledger[name])}</td>
                  </tr>
                ))
              )}
              {Object.entries(ledger?.rejected ?? {}).map(([reason, points]) => (
                <tr key={reason}>
                  <th scope="row">{words.value.page.pair(said.ledgerNames.rejected, reasonName(reason))}</th>
                  <td class="number">{number(points)}</td>
                </tr>
              ))}
            </tbody>
          </table>
          <p>
            <BackupAge at={backup_at} />
          </p>
        </>
      )}
    </PanelFrom>
  )
}

type Letter = Data<'listDeadLetters'>['items'][number]

const QUERY = { limit: 20 }

/** Points that the database refused: look, requeue, drop. */
export function DeadLetters() {
  const said = words.value.house
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
          <p class="small quiet">{items.length === 0 ? said.noLetters : said.lettersHelp}</p>
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
  const said = words.value.house
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
          {fill(said.refusals, { count: letter.refusals })}
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
  const said = words.value.house
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
