/** Who gets which message of a pause, before it begins. */
import type { Data } from '#shared/client/index.ts'
import { number } from '../../clock.ts'
import { absenceOf } from '../../parts/panel.tsx'
import { useResource } from '../../resource.ts'
import { client } from '../../session.ts'
import { fill, words } from '../../words.ts'

type Counted = Data<'sendPush'>

/** The volunteers are counted by a dry run. */
export function WhoIsTold() {
  const said = words.value.lifecycle
  const count = useResource(
    (signal) => client.sendPush({ audience: 'volunteers', text: '·', dry_run: true }, { signal }),
    0,
    'pause-recipients',
  )
  const isConfigured = useLineConfigured()
  const value = count.value.value
  const lines = value === null ? [absenceOf(count)] : volunteersOf(value, isConfigured)
  return (
    <>
      <h3>{said.pauseWho}</h3>
      <ul class="steps">
        <li>{said.pausePilgrims}</li>
        {lines.map((line) => (
          <li key={line}>{line}</li>
        ))}
        <li>{said.pauseOthers}</li>
      </ul>
    </>
  )
}

/** What the volunteers get; when they get nothing, why. */
function volunteersOf({ recipients, devices, left_out }: Counted, isConfigured: boolean): readonly string[] {
  const said = words.value.lifecycle
  const byPush = devices === 0 ? [] : [fill(said.pauseDevices, { devices: number(devices) })]
  if (!isConfigured) return [fill(said.pauseNobodyReached, { why: words.value.now.notConfigured }), ...byPush]
  if (recipients > 0) return [fill(said.pauseVolunteers, { count: number(recipients) }), ...byPush]
  const why = whyNobody(left_out)
  return [why === '' ? said.pauseNobodyHas : fill(said.pauseNobodyReached, { why }), ...byPush]
}

/** Whether there is a LINE account to send with; true until the service says that there is none. */
export function useLineConfigured(): boolean {
  const usage = useResource((signal) => client.readLineUsage({}, { signal }), 0, 'line-configured')
  return usage.value.value?.configured ?? true
}

/** Who was left out, and why; empty when there is nobody. */
export const whyNobody = (leftOut: Counted['left_out']): string =>
  Object.values(leftOut).every((count) => count === 0)
    ? ''
    : fill(words.value.messages.leftOut, { ...leftOut })
