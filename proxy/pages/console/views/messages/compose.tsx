import { useSignal } from '@preact/signals'
import type { ClientError } from '#shared/client/index.ts'
import { Button } from '../../../design/button.tsx'
import { number } from '../../clock.ts'
import { Panel, sentenceOf } from '../../parts/panel.tsx'
import { client } from '../../session.ts'
import { fill, words } from '../../words.ts'
import { AUDIENCES, counted, draft, type Draft, isEmpty, request, setCounted } from './draft.ts'
import { LeftOutPeople } from './left-out-people.tsx'
import { Previews } from './previews.tsx'
import { SendButton } from './send-button.tsx'

/** Longest texts that LINE takes, without and with a title. */
const TEXT_MAX = 5_000
const CARD_TEXT_MAX = 2_000
const TITLE_MAX = 100

const change = (fields: Partial<Draft>): void => {
  draft.value = { ...draft.value, ...fields }
}

export const Compose = () => (
  <Panel title={words.value.messages.compose} kind="compose">
    <div class="compose-grid">
      <div class="stack">
        <AudienceField />
        <TextFields />
        <Counting />
      </div>
      <Previews />
    </div>
  </Panel>
)

function AudienceField() {
  const said = words.value.messages
  const { audience, hours } = draft.value
  return (
    <div class="row">
      <label class="field">
        <span>{said.audience}</span>
        <select
          value={audience}
          onChange={(event) =>
            change({ audience: AUDIENCES[event.currentTarget.selectedIndex] ?? 'volunteers' })
          }
        >
          {AUDIENCES.map((name) => (
            <option key={name} value={name}>
              {said.audiences[name]}
            </option>
          ))}
        </select>
      </label>
      {audience === 'inactive' ? (
        <label class="field">
          <span>{said.hours}</span>
          <input
            type="number"
            min="1"
            max="8760"
            value={hours}
            onInput={(event) => change({ hours: Math.max(1, Number(event.currentTarget.value) || 1) })}
          />
        </label>
      ) : null}
      <p class="quiet small audience-means">{said.audienceMeans[audience]}</p>
    </div>
  )
}

function TextFields() {
  const said = words.value.messages
  const { title, text, image } = draft.value
  return (
    <>
      <label class="field">
        <span>{said.titleField}</span>
        <input
          type="text"
          maxLength={TITLE_MAX}
          value={title}
          onInput={(event) => change({ title: event.currentTarget.value })}
        />
      </label>
      <label class="field">
        <span>{said.text}</span>
        <textarea
          maxLength={title === '' ? TEXT_MAX : CARD_TEXT_MAX}
          value={text}
          onInput={(event) => change({ text: event.currentTarget.value })}
        />
      </label>
      <label class="field">
        <span>{said.image}</span>
        <input
          type="text"
          inputMode="url"
          value={image}
          onInput={(event) => change({ image: event.currentTarget.value })}
        />
      </label>
    </>
  )
}

/** Nothing is sent before its recipients were counted. */
function Counting() {
  const said = words.value.messages
  const busy = useSignal(false)
  const problem = useSignal<ClientError | null>(null)
  const count = async () => {
    busy.value = true
    const answer = await client.sendPush({ ...request.value, dry_run: true })
    busy.value = false
    problem.value = answer.ok ? null : answer.error
    if (answer.ok) setCounted(answer.data)
  }
  return (
    <>
      <div class="row">
        <Button busy={busy.value} disabled={isEmpty.value} onClick={() => void count()}>
          {said.check}
        </Button>
        <SendButton />
      </div>
      <Count />
      <LeftOut />
      <p role="alert" class="problem">
        {problem.value === null ? null : sentenceOf(problem.value)}
      </p>
    </>
  )
}

function Count() {
  const said = words.value.messages
  const result = counted.value
  if (result === null) return <p class="quiet small">{isEmpty.value ? said.writeFirst : said.mustCheck}</p>
  const { recipients, cost, quota_remaining, left_out, devices, pending } = result
  const over = quota_remaining !== null && cost > quota_remaining
  return (
    <output class="count">
      <strong>{fill(said.counted, { recipients: number(recipients), cost: number(cost) })}</strong>
      <span class={over ? 'warn-text' : 'quiet'}>
        {quota_remaining === null ? said.unlimited : fill(said.left, { left: number(quota_remaining) })}
      </span>
      {recipients === 0 && devices === 0 ? <span class="warn-text">{said.nobody}</span> : null}
      <span>{devices === 0 ? said.noDevices : fill(said.devices, { devices: number(devices) })}</span>
      {pending === null ? <span class="warn-text">{said.bufferUnknown}</span> : null}
      <span class="small quiet">{fill(said.leftOut, { ...left_out })}</span>
      {recipients === 0 ? null : <span class="small quiet">{said.reachUnsure}</span>}
    </output>
  )
}

/** Who of the counted audience is left out, on request. */
function LeftOut() {
  const said = words.value.messages
  const open = useSignal(false)
  const result = counted.value
  if (result === null || Object.values(result.left_out).every((people) => people === 0)) return null
  const { audience, hours } = draft.value
  return (
    <>
      <p>
        <Button kind="plain" aria-expanded={open.value} onClick={() => (open.value = !open.value)}>
          {open.value ? said.hideLeftOut : said.showLeftOut}
        </Button>
      </p>
      {open.value ? (
        <>
          <p class="quiet small">{said.leftOutReads}</p>
          <LeftOutPeople of={{ audience, ...(audience === 'inactive' ? { hours } : {}) }} />
        </>
      ) : null}
    </>
  )
}
