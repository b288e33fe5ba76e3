import { useSignal } from '@preact/signals'
import { Button } from '../../../design/button.tsx'
import { showToast } from '../../../design/toast.tsx'
import { number } from '../../clock.ts'
import { Confirm } from '../../parts/confirm.tsx'
import { client } from '../../session.ts'
import { fill, words } from '../../words.ts'
import { clearDraft, counted, draft, request } from './draft.ts'

/** Sends what was counted. Beyond the quota it asks once more. */
export function SendButton() {
  const said = words.value.messages
  const asking = useSignal(false)
  const force = useSignal(false)
  const result = counted.value
  const over = result !== null && result.quota_remaining !== null && result.cost > result.quota_remaining
  const nobody = result !== null && result.recipients === 0 && result.devices === 0
  return (
    <>
      <Button kind="primary" disabled={result === null || nobody} onClick={() => (asking.value = true)}>
        {said.send}
      </Button>
      <Confirm
        title={fill(said.sendTitle, { recipients: number(result?.recipients ?? 0) })}
        open={asking.value}
        onClose={() => {
          asking.value = false
          force.value = false
        }}
        button={said.sendButton}
        disabled={over && !force.value}
        run={() => client.sendPush({ ...request.value, ...(force.value ? { force: true } : {}) })}
        onDone={({ recipients }) => {
          clearDraft()
          showToast(fill(said.sent, { recipients: number(recipients) }), { forMs: 8_000 })
        }}
      >
        <p>{fill(said.sendText, { cost: number(result?.cost ?? 0) })}</p>
        {result === null || result.recipients === 0 ? null : <p>{said.reachUnsure}</p>}
        {result === null || result.devices === 0 ? null : (
          <p>{fill(said.devices, { devices: number(result.devices) })}</p>
        )}
        <NotReached />
        <blockquote>
          {draft.value.title === '' ? null : <strong class="block">{draft.value.title}</strong>}
          {draft.value.text || (draft.value.title === '' ? draft.value.image : null)}
        </blockquote>
        {over ? <Over force={force.value} onForce={(value) => (force.value = value)} /> : null}
      </Confirm>
    </>
  )
}

/** Who reads "everybody" takes it for everybody. */
function NotReached() {
  const people = Object.values(counted.value?.left_out ?? {}).reduce((sum, count) => sum + count, 0)
  if (people === 0) return null
  return <p class="warn-text">{fill(words.value.messages.sendLeftOut, { count: number(people) })}</p>
}

interface OverProps {
  readonly force: boolean
  readonly onForce: (force: boolean) => void
}

const Over = ({ force, onForce }: OverProps) => (
  <div class="notice warning">
    <label class="row">
      <input type="checkbox" checked={force} onChange={(event) => onForce(event.currentTarget.checked)} />
      {words.value.messages.force}
    </label>
    <span>{words.value.messages.over}</span>
  </div>
)
