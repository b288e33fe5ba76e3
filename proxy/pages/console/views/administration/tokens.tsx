import type { Data } from '#shared/client/index.ts'
import { ago } from '../../clock.ts'
import { PanelFrom } from '../../parts/panel.tsx'
import type { Resource } from '../../resource.ts'
import { role } from '../../session.ts'
import { fill, words } from '../../words.ts'

/** Tokens in use, by name. Nobody can read a token here. */
export function Tokens({ list }: { readonly list: Resource<Data<'listTokens'>> }) {
  const said = words.value.house
  return (
    <PanelFrom title={said.tokens} kind="tokens" from={list}>
      {({ items }) => (
        <>
          <p class="small quiet">{said.tokensHelp}</p>
          <ul class="rows">
            {items.map(({ name, role: tier, fingerprint, last_used }) => (
              <li key={fingerprint} class={name === role.value?.name ? 'mine' : undefined}>
                <span class="badge">{words.value.roles[tier]}</span>
                <strong class="grow">{name}</strong>
                <span class="small quiet">
                  {last_used === null ? said.neverUsed : fill(said.lastUsed, { time: ago(last_used) })}
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
