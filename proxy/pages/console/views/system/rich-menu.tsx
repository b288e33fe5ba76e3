import { useSignal } from '@preact/signals'
import { Button } from '../../../design/button.tsx'
import { date } from '../../clock.ts'
import { act } from '../../parts/actions.tsx'
import { PanelFrom } from '../../parts/panel.tsx'
import { useResource } from '../../resource.ts'
import { client } from '../../session.ts'
import { ownName, pair, words } from '../../words.ts'

const EVERY_MS = 60_000

/** The rich menu of each language, and its deployment. */
export function RichMenu() {
  const status = useResource((signal) => client.readMenus({}, { signal }), EVERY_MS, 'menus')
  const said = words.value.system
  return (
    <PanelFrom title={said.menu} kind="rich-menu" from={status}>
      {({ configured, menus }) => (
        <>
          {configured ? null : <p class="quiet">{words.value.now.notConfigured}</p>}
          <ul class="rows">
            {menus.map(({ language, menu_id, current, deployed_at }) => (
              <li key={language}>
                <strong lang={language}>{ownName(language)}</strong>
                <span class={`badge ${menu_id === null ? '' : current ? 'good' : 'warning'}`}>
                  {menu_id === null ? said.menuNone : current ? said.menuCurrent : said.menuOld}
                </span>
                <span class="grow small quiet">{deployed_at === null ? null : date(deployed_at)}</span>
              </li>
            ))}
          </ul>
          <Deploy />
        </>
      )}
    </PanelFrom>
  )
}

function Deploy() {
  const said = words.value.system
  const busy = useSignal(false)
  const deploy = async () => {
    busy.value = true
    await act(client.deployMenus({}, { timeoutMs: 60_000 }), ({ skipped, menus }) =>
      skipped
        ? words.value.now.notConfigured
        : pair(said.menu, said.menusTold(menus.filter(({ changed }) => changed).length)),
    )
    busy.value = false
  }
  return (
    <p>
      <Button busy={busy.value} onClick={() => void deploy()}>
        {said.deploy}
      </Button>
    </p>
  )
}
