import { useSignal } from '@preact/signals'
import type { TargetedSubmitEvent } from 'preact'
import { Button } from '../../../design/button.tsx'
import { date } from '../../clock.ts'
import { act } from '../../parts/act.ts'
import { fieldText } from '../../parts/field-text.ts'
import { PanelFrom } from '../../parts/panel.tsx'
import { useResource } from '../../resource.ts'
import { client, role as mine } from '../../session.ts'
import { fill, words } from '../../words.ts'
import { Pages } from '../../parts/pages.tsx'

const EVERY_MS = 30_000
const PAGE = 20
const ROLES = ['volunteer', 'manager', 'owner'] as const
type Role = (typeof ROLES)[number]

const assign = (userId: string, role: Role | null) =>
  act(client.assignRole({ user_id: userId, role }), (data) =>
    fill(words.value.people.saidRole, {
      role: data.role === null ? words.value.people.noRole : words.value.roles[data.role],
    }),
  )

/** Roles of people in the event. */
export function Roles() {
  const cursor = useSignal<string | undefined>(undefined)
  const list = useResource(
    (signal) =>
      client.listRoles(
        { limit: PAGE, ...(cursor.value === undefined ? {} : { cursor: cursor.value }) },
        { signal },
      ),
    EVERY_MS,
    `roles ${cursor.value}`,
  )
  const said = words.value.house
  return (
    <PanelFrom title={said.roles} kind="roles" from={list}>
      {({ items, next_cursor }) => (
        <>
          <p class="small quiet">{said.rolesHelp}</p>
          <ul class="rows">
            {items.map(({ userId, display_name, role, assigned_by, assigned_at }) => (
              <li key={userId}>
                <span class="badge">{words.value.roles[role]}</span>
                <div class="grow">
                  <strong>{display_name ?? userId}</strong>
                  <p class="small quiet">
                    {fill(said.assignedBy, { name: assigned_by, time: date(assigned_at) })}
                  </p>
                </div>
                <Button kind="plain" onClick={() => void assign(userId, null)}>
                  {said.remove}
                </Button>
              </li>
            ))}
          </ul>
          <AddRole />
          <Pages
            next={next_cursor}
            isFirst={cursor.value === undefined}
            onPage={(to) => (cursor.value = to)}
          />
        </>
      )}
    </PanelFrom>
  )
}

function AddRole() {
  const offered = ROLES.filter((_, i) => i < (mine.value?.level ?? 0))
  const submit = (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = event.currentTarget
    const data = new FormData(form)
    const role = offered.find((name) => name === data.get('role')) ?? 'volunteer'
    void assign(fieldText(data, 'userId'), role).then((done) => done !== null && form.reset())
  }
  return (
    <form class="row" onSubmit={submit}>
      <input type="text" name="userId" required aria-label="Id" placeholder="Id" maxLength={128} />
      <select name="role" aria-label={words.value.people.setRole}>
        {offered.map((name) => (
          <option key={name} value={name}>
            {words.value.roles[name]}
          </option>
        ))}
      </select>
      <Button type="submit">{words.value.house.addRole}</Button>
    </form>
  )
}
