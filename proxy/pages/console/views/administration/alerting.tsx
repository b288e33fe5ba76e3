/** What alerts the owner: the conditions, whom they reach, when the last alert went, and the backup. */
import type { Data } from '#shared/client/index.ts'
import { Button } from '../../../design/button.tsx'
import { date, duration } from '../../clock.ts'
import { Await, PanelFrom } from '../../parts/panel.tsx'
import { useResource } from '../../resource.ts'
import { show } from '../../router.ts'
import { client } from '../../session.ts'
import { consoleLanguage, fill, words } from '../../words.ts'
import { BackupAge, isBackupOld } from '../now/parts.tsx'

type Condition = Data<'readCondition'>

const EVERY_MS = 20_000
const SENT_EVERY_MS = 60_000
const MINUTE_MS = 60_000

export function Alerting() {
  const condition = useResource((signal) => client.readCondition({}, { signal }), EVERY_MS, 'condition')
  const said = words.value.alerting
  return (
    <PanelFrom title={said.title} kind="alerting" from={condition}>
      {({ alerting, causes, backup_at }) => (
        <>
          <Recipient alerting={alerting} />
          <LastSent />
          <p class="row">
            <span class={causes.length === 0 ? 'badge good' : 'badge danger'}>
              {causes.length === 0 ? said.well : fill(said.wrong, { count: causes.length })}
            </span>
            <Button kind="plain" onClick={() => show('now', { panel: 'parts' })}>
              {said.health}
            </Button>
          </p>
          <Backup at={backup_at} />
          <Conditions alerting={alerting} />
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
              {fill(latest.failed > 0 ? said.lastFailed : said.last[latest.state], {
                time: date(latest.created_at),
              })}
            </p>
            <blockquote class="small alert-text">{latest.text}</blockquote>
          </div>
        )
      }
    </Await>
  )
}

function Conditions({ alerting: { conditions, within_s, repeats_min } }: Pick<Condition, 'alerting'>) {
  const said = words.value.alerting
  const language = consoleLanguage.value
  const gaps = repeats_min.map((minutes) => duration(minutes * MINUTE_MS))
  const list = new Intl.ListFormat(language, { type: 'conjunction', style: 'long' })
  return (
    <>
      <p class="small quiet">
        {fill(said.rhythm, { seconds: within_s, gaps: list.format(gaps), last: gaps.at(-1) ?? '' })}
      </p>
      <ul class="rows">
        {conditions.map(({ key, when, what_to_do }) => (
          <li key={key}>
            <div class="grow">
              <strong>{when[language]}</strong>
              <p class="small quiet">{what_to_do[language]}</p>
            </div>
          </li>
        ))}
      </ul>
    </>
  )
}

/** No alert is about the backup, so what is missing is said here. */
function Backup({ at }: { readonly at: string | null }) {
  const said = words.value.alerting
  return (
    <div>
      <p>
        <BackupAge at={at} />
      </p>
      {isBackupOld(at) ? (
        <p class="small">
          {at === null ? said.noBackup : said.oldBackup} <code>bun run backup --to backups/</code>{' '}
          {said.backupWhere}
        </p>
      ) : null}
    </div>
  )
}
