import { number } from '../../clock.ts'
import { PanelFrom } from '../../parts/panel.tsx'
import { useResource } from '../../resource.ts'
import { client } from '../../session.ts'
import { words } from '../../words.ts'
import { BackupAge } from '../now/parts.tsx'

const EVERY_MS = 20_000
const COUNTERS = [
  'received',
  'stored',
  'pending',
  'journaled',
  'duplicate',
  'dead_letter',
  'erased',
  'in_flight',
  'lost',
] as const

/** Why points were rejected; a new release may know more reasons. */
function reasonName(reason: string): string {
  const names: Readonly<Record<string, string>> = words.value.house.reasons
  return names[reason] ?? reason
}

/** What became of every point, and how old the backup is. */
export function LedgerAndBackup() {
  const condition = useResource((signal) => client.readCondition({}, { signal }), EVERY_MS, 'condition')
  const said = words.value.house
  return (
    <PanelFrom title={said.ledger} kind="ledger" from={condition}>
      {({ ledger, backup_at }) => (
        <>
          <p class="small quiet">{said.ledgerHelp}</p>
          <table>
            <tbody>
              {ledger === null ? (
                <tr>
                  <td class="quiet">{words.value.common.unknown}</td>
                </tr>
              ) : (
                COUNTERS.map((name) => (
                  <tr key={name} class={name === 'lost' && ledger.lost > 0 ? 'problem' : undefined}>
                    <th scope="row">{said.ledgerNames[name]}</th>
                    <td class="number">{number(ledger[name])}</td>
                  </tr>
                ))
              )}
              {Object.entries(ledger?.rejected ?? {}).map(([reason, points]) => (
                <tr key={reason}>
                  <th scope="row">
                    {said.ledgerNames.rejected}: {reasonName(reason)}
                  </th>
                  <td class="number">{number(points)}</td>
                </tr>
              ))}
            </tbody>
          </table>
          <p>
            <BackupAge at={backup_at} />
          </p>
        </>
      )}
    </PanelFrom>
  )
}
