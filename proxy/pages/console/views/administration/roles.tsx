import type { TargetedSubmitEvent } from 'preact'
import { Button } from '../../../design/button.tsx'
import { date } from '../../clock.ts'
import { assignRole, ROLES } from '../../parts/assign-role.ts'
import { fieldText } from '../../parts/field-text.ts'
import { PilgrimLink } from '../../parts/pilgrim-link.tsx'
import { show } from '../../router.ts'
import { client, role as mine } from '../../session.ts'
import { fill, words } from '../../words.ts'
import { PagedList } from '../../parts/paged-list.tsx'

const EVERY_MS = 30_000
const QUERY = { limit: 20 }

/** Roles of people in the event. */
export function Roles() {
  const said = words.value.house
  return (
    <PagedList title={said.roles} kind="roles" query={QUERY} read={client.listRoles} everyMs={EVERY_MS}>
      {({ items }) => (
        <>
          <p class="small quiet">{said.rolesHelp}</p>
          <ul class="rows">
            {items.map(({ userId, display_name, role, assigned_by, assigned_at }) => (
              <li key={userId}>
                <span class="badge">{words.value.roles[role]}</span>
                <div class="grow">
                  <PilgrimLink userId={userId} name={display_name} />
                  <p class="small quiet">
                    {fill(said.assignedBy, { name: assigned_by, time: date(assigned_at) })}
                  </p>
                </div>
                <Button kind="plain" onClick={() => void assignRole(userId, null, role)}>
                  {said.remove}
                </Button>
              </li>
            ))}
          </ul>
          <AddRole />
        </>
      )}
    </PagedList>
  )
}

function AddRole() {
  const offered = ROLES.filter((_, i) => i < (mine.value?.level ?? 0))
  const submit = (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = event.currentTarget
    const data = new FormData(form)
    const role = offered.find((name) => name === data.get('role')) ?? 'volunteer'
    void assignRole(fieldText(data, 'userId'), role).then((done) => done !== null && form.reset())
  }
  return (
    <form class="row" onSubmit={submit}>
      <input
        type="text"
        name="userId"
        required
        aria-label={words.value.people.sorts.userId}
        placeholder={words.value.people.sorts.userId}
        maxLength={128}
      />
      <select name="role" aria-label={words.value.people.setRole}>
        {offered.map((name) => (
          <option key={name} value={name}>
            {words.value.roles[name]}
          </option>
        ))}
      </select>
      <Button type="submit">{words.value.house.addRole}</Button>
      <Button kind="plain" onClick={() => show('people')}>
        {words.value.house.roleByName}
      </Button>
    </form>
  )
}
