import type { Data } from '#shared/client/index.ts'
import { ago, date } from '../../clock.ts'
import { PanelFrom } from '../../parts/panel.tsx'
import type { Resource } from '../../resource.ts'
import { role, client } from '../../session.ts'
import { words } from '../../words.ts'
import { Button } from '../../../design/button.tsx'
import { assignRole } from '../../parts/actions.tsx'
import { PilgrimLink } from '../../parts/pilgrim-link.tsx'
import { show } from '../../router.ts'
import { PagedList } from '../../parts/paged-list.tsx'

/** Tokens in use, by name. Nobody can read a token here. */
export function Tokens({ list }: { readonly list: Resource<Data<'listTokens'>> }) {
  const said = words.value.system
  return (
    <PanelFrom title={said.tokens} kind="tokens" from={list}>
      {({ items }) => (
        <>
          <p class="small quiet">{said.tokensFrom}</p>
          <ul class="rows">
            {items.map(({ name, role: tier, fingerprint, last_used }) => (
              <li key={fingerprint} class={name === role.value?.name ? 'mine' : undefined}>
                <span class="badge">{words.value.roles[tier]}</span>
                <strong class="grow">{name}</strong>
                <span class="small quiet">{last_used === null ? said.neverUsed : ago(last_used)}</span>
              </li>
            ))}
          </ul>
        </>
      )}
    </PanelFrom>
  )
}

const EVERY_MS = 30_000
const QUERY = { limit: 20 }

/** Roles of people in the event. */
export function Roles() {
  const said = words.value.system
  return (
    <PagedList title={said.roles} kind="roles" query={QUERY} read={client.listRoles} everyMs={EVERY_MS}>
      {({ items }) => (
        <>
          {items.length === 0 ? null : (
            <ul class="rows">
              {items.map(({ userId, display_name, role, assigned_by, assigned_at }) => (
                <li key={userId}>
                  <span class="badge">{words.value.roles[role]}</span>
                  <div class="grow">
                    <PilgrimLink userId={userId} name={display_name} />
                    <p class="small quiet">
                      {words.value.common.by} {assigned_by}, {date(assigned_at)}
                    </p>
                  </div>
                  <Button kind="plain" onClick={() => void assignRole(userId, null, role)}>
                    {said.remove}
                  </Button>
                </li>
              ))}
            </ul>
          )}
          <p>
            <Button kind="plain" onClick={() => show('people')}>
              {said.roleByName}
            </Button>
          </p>
        </>
      )}
    </PagedList>
  )
}
