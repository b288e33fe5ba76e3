/** Whom LINE does not reach, by name. */
import type { Data, Input } from '#shared/client/index.ts'
import { number } from '../../clock.ts'
import { PagedList } from '../../parts/paged-list.tsx'
import { PilgrimLink } from '../../parts/pilgrim-link.tsx'
import { client } from '../../session.ts'
import { fill, words } from '../../words.ts'

type Person = Data<'listLeftOut'>['items'][number]

const PAGE = 20

/** @param of the message, or the audience, who is left out of it */
export const LeftOutPeople = ({ of }: { readonly of: Input<'listLeftOut'> }) => (
  <PagedList
    title={words.value.messages.leftOutNames}
    kind="left-out-people"
    query={{ ...of, limit: PAGE }}
    read={client.listLeftOut}
    everyMs={0}
  >
    {({ items }) => (
      <ul class="rows">
        {items.map((person) => (
          <LeftOutPerson key={person.userId} person={person} />
        ))}
        {items.length === 0 ? <li class="quiet">{words.value.messages.leftOutNobody}</li> : null}
      </ul>
    )}
  </PagedList>
)

function LeftOutPerson({ person: { userId, display_name, reason, devices } }: { readonly person: Person }) {
  const said = words.value.messages
  return (
    <li>
      <span class="grow">
        <PilgrimLink userId={userId} name={display_name} />{' '}
        <span class="quiet">
          {said.leftOutReasons[reason]}
          {devices === 0 ? null : ` · ${fill(said.leftOutDevices, { devices: number(devices) })}`}
        </span>
      </span>
    </li>
  )
}
