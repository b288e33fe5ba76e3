/** Whom alerts reach, when the last one went, and the backup. */
import type { Data } from '#shared/client/index.ts'
import { date } from '../../clock.ts'
import { Await, PanelFrom } from '../../parts/panel.tsx'
import { type Resource, useResource } from '../../resource.ts'
import { client } from '../../session.ts'
import { words } from '../../words.ts'
import { BackupAge, isBackupOld } from '../now/parts.tsx'

type Condition = Data<'readCondition'>

const SENT_EVERY_MS = 60_000

export function Alerting({ condition }: { readonly condition: Resource<Condition> }) {
  const said = words.value.alerting
  return (
    <PanelFrom title={said.title} kind="alerting" from={condition}>
      {({ alerting, backup_at }) => (
        <>
          <Recipient alerting={alerting} />
          <LastSent />
          <Backup at={backup_at} />
        </>
      )}
    </PanelFrom>
  )
}

function Recipient({ alerting: { channel, line } }: Pick<Condition, 'alerting'>) {
  const said = words.value.alerting
  if (channel !== null) return <p>{said.toLine}</p>
  return <p class="notice warning">{line ? said.noRecipient : said.noLine}</p>
}

function LastSent() {
  const said = words.value.alerting
  const sent = useResource(
    (signal) => client.listMessages({ cause: 'alert', limit: 1 }, { signal }),
    SENT_EVERY_MS,
    'alerts-sent',
  )
  return (
    <Await from={sent}>
      {({ items: [latest] }) =>
        latest === undefined ? (
          <p>{said.noneSent}</p>
        ) : (
          <div>
            <p>
              {latest.failed > 0 ? said.lastFailed : said.last[latest.state]} {date(latest.created_at)}
            </p>
            <blockquote class="small alert-text">{latest.text}</blockquote>
          </div>
        )
      }
    </Await>
  )
}

/** No alert is about the backup, so what is missing is said here. */
const Backup = ({ at }: { readonly at: string | null }) => (
  <div>
    <p>
      <BackupAge at={at} />
    </p>
    {isBackupOld(at) ? (
      <p class="small">
        <code>bun run backup --to backups/</code>
      </p>
    ) : null}
  </div>
)
