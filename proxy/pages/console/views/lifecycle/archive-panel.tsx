/** Exports the whole event as a file, and imports the settings of such a file into another event. */
import type { Data } from '#shared/client/index.ts'
import { useSignal } from '@preact/signals'
import { dayOf, now } from '../../clock.ts'
import { type EventSettings, event, readEvent } from '../../event.ts'
import { BusyButton, warn } from '../../parts/actions.tsx'
import { fileName, saveBlob } from '../../parts/download.ts'
import { FileDrop } from '../../parts/fields.tsx'
import { PanelFrom, refusalOf } from '../../parts/panel.tsx'
import type { Resource } from '../../resource.ts'
import { pair, words } from '../../words.ts'
import { showToast } from '../../../design/toast.tsx'
import type { SettingsFile } from './event-file.ts'
import { type FilePart, partTitle, savePart } from './event-parts.ts'

interface ArchiveProps {
  readonly from: Resource<EventSettings>
  readonly condition: Resource<Data<'readCondition'>>
}

/** An event that has ended can only be exported. */
export const ArchivePanel = ({
  from,
  condition,
  hasEnded,
}: ArchiveProps & { readonly hasEnded: boolean }) => (
  <PanelFrom title={words.value.archive.title} kind="event-archive" from={from}>
    {(settings) => (
      <>
        <SaveArchive settings={settings} />
        {hasEnded ? null : <Import from={from} settings={settings} condition={condition} />}
      </>
    )}
  </PanelFrom>
)

function SaveArchive({ settings }: { readonly settings: EventSettings }) {
  const messages = words.value.archive
  const save = async () => {
    if (event.value === null) return
    const { time_zone: zone, crowd } = event.value
    const script = await import('./make-archive.ts').catch(() => null)
    if (script === null) return showToast(messages.notRead, { warning: true })
    const { makeArchive } = script
    const made = await makeArchive({ settings, timeZone: zone, crowd, now: new Date(now.value) })
    if (made instanceof Blob) saveBlob(made, fileName('archive', dayOf(now.value), 'zip'))
    else if (made === null) showToast(messages.tooLarge, { warning: true })
    else warn(made, refusalOf)
  }
  return (
    <>
      <p class="small">{messages.text}</p>
      <div class="row">
        <BusyButton run={save}>{messages.save}</BusyButton>
      </div>
    </>
  )
}

interface ImportProps extends ArchiveProps {
  readonly settings: EventSettings
}

/** Once there are points, another route would falsify their distances. */
const isRefused = (part: FilePart, hasPoints: boolean): boolean => part === 'route' && hasPoints

function Import({ from, settings, condition }: ImportProps) {
  const messages = words.value.archive
  const file = useSignal<SettingsFile | null>(null)
  const problems = useSignal<readonly string[]>([])
  const zone = event.value?.time_zone
  const left = useSignal<ReadonlySet<FilePart>>(new Set())
  // Unknown counts as yes: a route that is skipped can be imported later.
  const hasPoints = (condition.value.value?.ledger?.received ?? 1) > 0
  const read = async (chosen: File) => {
    const { readSettingsFile } = await import('./event-file.ts')
    const found = await readSettingsFile(chosen, now.value)
    left.value = new Set()
    file.value = typeof found === 'string' ? null : found
    problems.value = typeof found === 'string' ? [messages.faults[found]] : []
  }
  const take = async () => {
    const refused: string[] = []
    const { withStoredDates } = await import('./event-file.ts')
    for (const [part, value] of file.value!.parts) {
      if (left.value.has(part) || isRefused(part, hasPoints)) continue
      // The version stays the same: a newer one would overwrite changes of another owner.
      const answer = await savePart(part, withStoredDates(value, settings[part].value), settings.version)
      if (!answer.ok) refused.push(pair(partTitle(part), refusalOf(answer.error)))
    }
    problems.value = refused
    file.value = null
    await Promise.all([from.reload(), readEvent()])
    if (refused.length === 0) showToast(messages.taken)
  }
  return (
    <div class="stack">
      <FileDrop
        title={messages.import}
        note={messages.note}
        accept=".zip,.json"
        name="settings-file"
        onChoose={read}
      />
      <div role="alert" class="problem">
        {problems.value.map((problem) => (
          <p key={problem}>{problem}</p>
        ))}
      </div>
      {file.value === null ? null : (
        <>
          <Chosen parts={file.value.parts} left={left} hasPoints={hasPoints} />
          {hasPoints && file.value.parts.some(([part]) => part === 'route') ? (
            <p class="small">{messages.points}</p>
          ) : null}
          {zone === undefined || file.value.timeZone === null || file.value.timeZone === zone ? null : (
            <p class="small warn-text">{messages.zone(file.value.timeZone, zone)}</p>
          )}
          <div class="row">
            <BusyButton run={take}>{messages.take}</BusyButton>
          </div>
        </>
      )}
    </div>
  )
}

interface ChosenProps {
  readonly parts: SettingsFile['parts']
  readonly left: { value: ReadonlySet<FilePart> }
  readonly hasPoints: boolean
}

const Chosen = ({ parts, left, hasPoints }: ChosenProps) => (
  <fieldset class="route-lines">
    <legend>{words.value.archive.parts}</legend>
    {parts.map(([part]) => (
      <label key={part} class="row">
        <input
          type="checkbox"
          name={`import-${part}`}
          disabled={isRefused(part, hasPoints)}
          checked={!left.value.has(part) && !isRefused(part, hasPoints)}
          onChange={({ currentTarget }) => {
            const others = [...left.value].filter((other) => other !== part)
            left.value = new Set(currentTarget.checked ? others : [...others, part])
          }}
        />
        {partTitle(part)}
      </label>
    ))}
  </fieldset>
)
