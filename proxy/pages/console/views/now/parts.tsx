import { OLD_BACKUP_MS } from '#shared/core/rules/backup-age.ts'
import { ago, date, now } from '../../clock.ts'
import { pair, words } from '../../words.ts'
import type { Condition } from './figure-tiles.tsx'

type Part = Condition['parts'][number]

const TONES = {
  ok: 'good',
  degraded: 'warning',
  error: 'danger',
  silent: 'danger',
  unknown: 'warning',
} as const

/** Health of each service and store: one line while all are well. */
export function Parts({ parts }: Pick<Condition, 'parts'>) {
  const bad = parts.filter(({ state }) => state !== 'ok')
  return (
    <div class="parts small">
      {bad.length === 0 ? null : <PartList parts={bad} />}
      <span class="quiet">{words.value.now.partsOk(parts.length - bad.length)}</span>
    </div>
  )
}

export const PartList = ({ parts }: Pick<Condition, 'parts'>) => (
  <ul class="part-list">
    {parts.map((part) => (
      <PartRow key={part.name} part={part} />
    ))}
  </ul>
)

const PartRow = ({ part: { name, state, seen_at, processes } }: { readonly part: Part }) => (
  <li class={TONES[state]}>
    <span class="dot" aria-hidden="true" />
    <span class="grow">{words.value.now.partNames[name]}</span>
    <span class="small state">{words.value.now.partStates[state]}</span>
    {state === 'degraded' && processes !== null ? (
      <span class="small quiet">
        {processes.running} / {processes.running + processes.silent} {words.value.now.processes}
      </span>
    ) : null}
    {state === 'silent' && seen_at !== null ? <span class="small quiet">{ago(seen_at)}</span> : null}
  </li>
)

/** There is none, or it should be repeated. */
export const isBackupOld = (at: string | null): boolean =>
  at === null || now.value - Date.parse(at) > OLD_BACKUP_MS

export const BackupAge = ({ at }: { readonly at: string | null }) => (
  <span class={isBackupOld(at) ? 'warn-text' : undefined} title={at === null ? undefined : date(at)}>
    {pair(words.value.now.backup, at === null ? words.value.common.never : ago(at))}
  </span>
)
