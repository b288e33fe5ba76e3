/** The house: who may do what, what went wrong, what was done, and the parts that are set up once. */
import type { Data } from '#shared/client/index.ts'
import { type Resource, useResource } from '../../resource.ts'
import { client, level, OWNER } from '../../session.ts'
import { words } from '../../words.ts'
import { Alerting } from './alerting.tsx'
import { AuditLog } from './audit-log.tsx'
import { DeadLetters, Ledger } from './ledger.tsx'
import { RichMenu } from './rich-menu.tsx'
import { Roles, Tokens } from './tokens-and-roles.tsx'

const TOKENS_MS = 60_000

export const House = () => (level.value >= OWNER ? <OwnersHouse /> : <Parts tokens={null} />)

/** The names of the tokens are read once, for their list and for the filters of the audit log. */
function OwnersHouse() {
  const tokens = useResource((signal) => client.listTokens({}, { signal }), TOKENS_MS, 'tokens')
  return <Parts tokens={tokens} />
}

const Parts = ({ tokens }: { readonly tokens: Resource<Data<'listTokens'>> | null }) => (
  <div class="view house">
    <h1 class="visually-hidden">{words.value.house.title}</h1>
    <div class="house-column">
      <Alerting />
      <DeadLetters />
      <Roles />
      <RichMenu />
    </div>
    <div class="house-column">
      <Ledger />
      {tokens === null ? null : <Tokens list={tokens} />}
    </div>
    {tokens === null ? null : <AuditLog tokens={tokens} />}
  </div>
)
