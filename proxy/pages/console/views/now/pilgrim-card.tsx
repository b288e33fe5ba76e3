import { Button } from '../../../design/button.tsx'
import { ago, clock, number, oneDigit } from '../../clock.ts'
import { Await } from '../../parts/panel.tsx'
import { useResource } from '../../resource.ts'
import { show } from '../../router.ts'
import { client } from '../../session.ts'
import { fill, words } from '../../words.ts'

const EVERY_MS = 60_000
/** Names may contain an id, too. */
const FOUND = 5

interface Props {
  readonly userId: string
  /** Of the position on the map. */
  readonly seenAt: string | null
}

/**
 * What the list of pilgrims tells of one: it needs no more than that, and opening the pilgrim, which shows everything,
 * is written to the audit log.
 */
export function PilgrimCard({ userId, seenAt }: Props) {
  const said = words.value.people
  const found = useResource(
    (signal) => client.listUsers({ search: userId, limit: FOUND }, { signal }),
    EVERY_MS,
    `pilgrim-card ${userId}`,
  )
  return (
    <>
      <dl class="card-rows small">
        {seenAt === null ? null : (
          <div>
            <dt>{said.columns.seen}</dt>
            <dd>
              {ago(seenAt)} <span class="quiet">{clock(seenAt)}</span>
            </dd>
          </div>
        )}
        <Await from={found}>
          {({ items }) => <Figures row={items.find((row) => row.userId === userId) ?? null} />}
        </Await>
      </dl>
      <Button onClick={() => show('people', { person: userId })}>{words.value.now.openPilgrim}</Button>
    </>
  )
}

interface Row {
  readonly km: number
  readonly checkins: number
  readonly level: number
}

function Figures({ row }: { readonly row: Row | null }) {
  const said = words.value.people
  if (row === null) return <p class="quiet">{said.notFound}</p>
  return (
    <>
      <div>
        <dt>{said.sorts.km}</dt>
        <dd>
          {oneDigit(row.km)} km · {fill(said.level, { level: row.level })}
        </dd>
      </div>
      <div>
        <dt>{said.columns.checkins}</dt>
        <dd>{number(row.checkins)}</dd>
      </div>
    </>
  )
}
