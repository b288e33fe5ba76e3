import { useSignal } from '@preact/signals'
import type { Data } from '#shared/client/index.ts'
import { Button } from '../../../design/button.tsx'
import { showToast } from '../../../design/toast.tsx'
import { date } from '../../clock.ts'
import { act } from '../../parts/act.ts'
import { Confirm } from '../../parts/confirm.tsx'
import { PilgrimLink } from '../../parts/pilgrim-link.tsx'
import { client, level, OWNER } from '../../session.ts'
import { fill, words } from '../../words.ts'
import { PagedList } from '../../parts/paged-list.tsx'

type Letter = Data<'listDeadLetters'>['items'][number]

const EVERY_MS = 20_000
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
