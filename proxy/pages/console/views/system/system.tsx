/** Who may do what, what went wrong, what was done, and the parts that are set up once. */
import type { Data } from '#shared/client/index.ts'
import { type Resource, useResource } from '../../resource.ts'
import { PanelFrom } from '../../parts/panel.tsx'
import { client, level, OWNER } from '../../session.ts'
import { words } from '../../words.ts'
import { PartList } from '../now/parts.tsx'
import { Alerting } from './alerting.tsx'
import { AuditLog } from './audit-log.tsx'
import { DeadLetters, Ledger } from './ledger.tsx'
import { RichMenu } from './rich-menu.tsx'
import { Roles, Tokens } from './tokens-and-roles.tsx'

const [TOKENS_MS, CONDITION_MS] = [60_000, 20_000]

export const System = () => (level.value >= OWNER ? <OwnersSystem /> : <Parts tokens={null} />)

/** The names of the tokens are read once, for their list and for the filters of the audit log. */
function OwnersSystem() {
  const tokens = useResource((signal) => client.listTokens({}, { signal }), TOKENS_MS, 'tokens')
  return <Parts tokens={tokens} />
}

function Parts({ tokens }: { readonly tokens: Resource<Data<'listTokens'>> | null }) {
  const condition = useResource((signal) => client.readCondition({}, { signal }), CONDITION_MS, 'condition')
  return (
    <div class="view system">
      <h1 class="visually-hidden">{words.value.system.title}</h1>
      <div class="system-column">
        <Alerting condition={condition} />
        <PanelFrom title={words.value.system.parts} kind="all-parts" from={condition}>
          {({ parts }) => <PartList parts={parts} />}
        </PanelFrom>
        <DeadLetters />
        <Roles />
        <RichMenu />
      </div>
      <div class="system-column">
        <Ledger condition={condition} />
        {tokens === null ? null : <Tokens list={tokens} />}
      </div>
      {tokens === null ? null : <AuditLog tokens={tokens} />}
    </div>
  )
}
