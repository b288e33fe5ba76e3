import type { Data } from '#shared/client/index.ts'
import { ago, date } from '../../clock.ts'
import { PanelFrom } from '../../parts/panel.tsx'
import type { Resource } from '../../resource.ts'
import { role, client, role as mine } from '../../session.ts'
import { words } from '../../words.ts'
import type { TargetedSubmitEvent } from 'preact'
import { Button } from '../../../design/button.tsx'
import { assignRole, ROLES } from '../../parts/actions.tsx'
import { PilgrimLink } from '../../parts/pilgrim-link.tsx'
import { show } from '../../router.ts'
import { PagedList } from '../../parts/paged-list.tsx'

/** Tokens in use, by name. Nobody can read a token here. */
export function Tokens({ list }: { readonly list: Resource<Data<'listTokens'>> }) {
  const said = words.value.house
  return (
    <PanelFrom title={said.tokens} kind="tokens" from={list}>
      {({ items }) => (
        <>
          <ul class="rows">
            {items.map(({ name, role: tier, fingerprint, last_used }) => (
              <li key={fingerprint} class={name === role.value?.name ? 'mine' : undefined}>
                <span class="badge">{words.value.roles[tier]}</span>
                <strong class="grow">{name}</strong>
                <span class="small quiet">
                  {last_used === null ? said.neverUsed : said.lastUsed(ago(last_used))}
                </span>
              </li>
            ))}
          </ul>
          <details>
            <summary>{said.tokensMore}</summary>
            <Tiers />
            <p class="small">{said.tokensMake}</p>
          </details>
        </>
      )}
    </PanelFrom>
  )
}

/** What each tier may do, the lowest first. */
const Tiers = () => (
  <dl class="small">
    {(['volunteer', 'manager', 'owner'] as const).map((tier) => (
      <div key={tier}>
        <dt>{words.value.roles[tier]}</dt>
        <dd>{words.value.tiers[tier]}</dd>
      </div>
    ))}
  </dl>
)

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
                  <p class="small quiet">{said.assignedBy(assigned_by, date(assigned_at))}</p>
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

/** The trimmed text of a form's field; empty for a missing one. */
function fieldText(data: FormData, name: string): string {
  const value = data.get(name)
  return typeof value === 'string' ? value.trim() : ''
}
