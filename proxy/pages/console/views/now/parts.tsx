import { ago, date, now } from '../../clock.ts'
import { PanelFrom } from '../../parts/panel.tsx'
import type { Resource } from '../../resource.ts'
import { fill, words } from '../../words.ts'
import { type Condition, percent } from './figure-tiles.tsx'

type Part = Condition['parts'][number]

const TONES = {
  ok: 'good',
  degraded: 'warning',
  error: 'danger',
  silent: 'danger',
  unknown: 'warning',
} as const
/** A backup that is older than this should be repeated. */
const OLD_BACKUP_MS = 26 * 3_600_000

/** Health of each service and store, and the age of the backup. */
export const Parts = ({ condition }: { readonly condition: Resource<Condition> }) => (
  <PanelFrom title={words.value.now.parts} kind="parts" from={condition}>
    {({ parts, kv_memory, backup_at }) => (
      <>
        <ul class="part-list">
          {parts.map((part) => (
            <PartRow key={part.name} part={part} />
          ))}
        </ul>
        <p class="small row">
          {kv_memory === null || kv_memory === 0 ? null : (
            <span>{words.value.page.pair(words.value.now.memory, percent(kv_memory))}</span>
          )}
          <BackupAge at={backup_at} />
        </p>
      </>
    )}
  </PanelFrom>
)

const PartRow = ({ part: { name, state, seen_at, processes } }: { readonly part: Part }) => (
  <li class={TONES[state]}>
    <span class="dot" aria-hidden="true" />
    <span class="grow">{words.value.now.partNames[name]}</span>
    <span class="small state">{words.value.now.partStates[state]}</span>
    {state === 'degraded' && processes !== null ? (
      <span class="small quiet">
        {fill(words.value.now.processes, {
          running: processes.running,
          all: processes.running + processes.silent,
        })}
      </span>
    ) : null}
    {state === 'silent' && seen_at !== null ? (
      <span class="small quiet">{fill(words.value.now.lastSeen, { time: ago(seen_at) })}</span>
    ) : null}
  </li>
)

/** There is none, or it should be repeated. */
export const isBackupOld = (at: string | null): boolean =>
  at === null || now.value - Date.parse(at) > OLD_BACKUP_MS

export const BackupAge = ({ at }: { readonly at: string | null }) => {
  return (
    <span class={isBackupOld(at) ? 'warn-text' : undefined} title={at === null ? undefined : date(at)}>
      {words.value.now.backup}: {at === null ? words.value.now.noBackup : ago(at)}
    </span>
  )
}
