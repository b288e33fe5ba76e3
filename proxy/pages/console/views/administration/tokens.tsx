import { ago } from '../../clock.ts'
import { PanelFrom } from '../../parts/panel.tsx'
import { useResource } from '../../resource.ts'
import { client, role } from '../../session.ts'
import { fill, words } from '../../words.ts'

const EVERY_MS = 60_000

/** Tokens in use, by name. Nobody can read a token here. */
export function Tokens() {
  const list = useResource((signal) => client.listTokens({}, { signal }), EVERY_MS, 'tokens')
  const said = words.value.house
  return (
    <PanelFrom title={said.tokens} kind="tokens" from={list}>
      {({ items }) => (
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
      )}
    </PanelFrom>
  )
}
