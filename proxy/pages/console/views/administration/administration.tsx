/** The house: who may do what, what went wrong, what was done, and the parts that are set up once. */
import { level, OWNER } from '../../session.ts'
import { words } from '../../words.ts'
import { AuditLog } from './audit-log.tsx'
import { DeadLetters } from './dead-letters.tsx'
import { LedgerAndBackup } from './ledger-and-backup.tsx'
import { RichMenu } from './rich-menu.tsx'
import { Roles } from './roles.tsx'
import { Tokens } from './tokens.tsx'

export const House = () => (
  <div class="view house">
    <h1 class="visually-hidden">{words.value.house.title}</h1>
    <div class="house-column">
      <DeadLetters />
      <Roles />
      <RichMenu />
    </div>
    <div class="house-column">
      <LedgerAndBackup />
      {level.value >= OWNER ? <Tokens /> : null}
    </div>
    {level.value >= OWNER ? <AuditLog /> : null}
  </div>
)
