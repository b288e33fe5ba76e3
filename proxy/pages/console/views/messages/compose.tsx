import { useSignal, computed, signal } from '@preact/signals'
import type { ClientError, Data, Input } from '#shared/client/index.ts'
import { Button } from '../../../design/button.tsx'
import { number } from '../../clock.ts'
import { Panel, sentenceOf } from '../../parts/panel.tsx'
import { client, atSignOut } from '../../session.ts'
import { words } from '../../words.ts'
import { LeftOutPeople } from './left-out-people.tsx'
import { pageData } from '../../../frame/page-data.ts'
import { showToast } from '../../../design/toast.tsx'
import { Confirm } from '../../parts/actions.tsx'

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
      <strong>{said.counted(number(recipients), number(cost))}</strong>
      <span class={over ? 'warn-text' : 'quiet'}>
        {quota_remaining === null ? said.unlimited : said.left(number(quota_remaining))}
      </span>
      {recipients === 0 && devices === 0 ? <span class="warn-text">{said.nobody}</span> : null}
      <span>{devices === 0 ? said.noDevices : said.devices(devices)}</span>
      {pending === null ? <span class="warn-text">{said.bufferUnknown}</span> : null}
      <span class="small quiet">
        {said.leftOut(left_out.unreachable, left_out.withdrawn, left_out.no_line_id)}
      </span>
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
      {open.value ? <LeftOutPeople of={{ audience, ...(audience === 'inactive' ? { hours } : {}) }} /> : null}
    </>
  )
}

/** The message as pilgrims see it: in LINE, and on devices that get it by Web Push. */
const Previews = () => (
  <div class="stack previews">
    <LinePreview />
    <NoticePreview />
  </div>
)

/** As LINE shows it: a card with a title, else a picture and a text. The picture itself is not loaded. */
function LinePreview() {
  const said = words.value.messages
  const { title, text, image } = draft.value
  const empty = text === '' && image === ''
  return (
    <figure class="line-preview">
      <figcaption class="small quiet">{said.preview}</figcaption>
      <div class="line-chat">
        <span class="line-name small">{pageData().name}</span>
        {empty ? <p class="line-bubble quiet">{said.previewEmpty}</p> : null}
        {title === '' ? (
          <>
            {image === '' ? null : <Picture url={image} />}
            {text === '' ? null : <p class="line-bubble">{text}</p>}
          </>
        ) : (
          <div class="line-card">
            {image === '' ? null : <Picture url={image} />}
            <strong>{title}</strong>
            <p>{text}</p>
          </div>
        )}
      </div>
    </figure>
  )
}

/** A notice has no picture; a message without a text is not sent as one. */
function NoticePreview() {
  const said = words.value.messages
  const { title, text, image } = draft.value
  const missing = image === '' ? said.previewEmpty : said.noticeEmpty
  return (
    <figure class="notice-preview">
      <figcaption class="small quiet">{said.noticePreview}</figcaption>
      <div class="phone-notice">
        <strong>{title === '' ? pageData().name : title}</strong>
        <p class="small">{text === '' ? missing : text}</p>
      </div>
    </figure>
  )
}

const Picture = ({ url }: { readonly url: string }) => <span class="line-picture small">{url}</span>

/** Sends what was counted. Beyond the quota it asks once more. */
function SendButton() {
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
        title={said.sendTitle(result?.recipients ?? 0)}
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
          showToast(said.sent(recipients), { forMs: 8_000 })
        }}
      >
        <p>{said.sendText(number(result?.cost ?? 0))}</p>
        {result === null || result.recipients === 0 ? null : <p>{said.reachUnsure}</p>}
        {result === null || result.devices === 0 ? null : <p>{said.devices(result.devices)}</p>}
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
  return <p class="warn-text">{words.value.messages.sendLeftOut(number(people))}</p>
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

// The message that is being written, and what it would cost.

const AUDIENCES = [
  'all',
  'participants',
  'volunteers',
  'managers',
  'owners',
  'completed',
  'inactive',
] as const
type Audience = (typeof AUDIENCES)[number]

interface Draft {
  readonly audience: Audience
  /** For inactive participants: hours without a point. */
  readonly hours: number
  readonly title: string
  readonly text: string
  readonly image: string
}

const EMPTY: Draft = { audience: 'volunteers', hours: 24, title: '', text: '', image: '' }

/** It stays while the operator looks at another view. */
export const draft = signal<Draft>(EMPTY)

type Counted = Data<'sendPush'>
/** The last dry run, and the request that it was for. */
const dryRun = signal<{ readonly counted: Counted; readonly request: string } | null>(null)

const request = computed((): Input<'sendPush'> => {
  const { audience, hours, title, text, image } = draft.value
  return {
    audience,
    ...(audience === 'inactive' ? { hours } : {}),
    ...(title.trim() === '' ? {} : { title: title.trim() }),
    ...(text.trim() === '' ? {} : { text: text.trim() }),
    ...(image.trim() === '' ? {} : { image_url: image.trim() }),
  }
})

const isEmpty = computed(() => draft.value.text.trim() === '' && draft.value.image.trim() === '')

/** The count for exactly this message; null once it has changed. */
const counted = computed(() =>
  dryRun.value?.request === JSON.stringify(request.value) ? dryRun.value.counted : null,
)

function setCounted(result: Counted): void {
  dryRun.value = { counted: result, request: JSON.stringify(request.value) }
}

function clearDraft(): void {
  draft.value = { ...EMPTY, audience: draft.value.audience }
  dryRun.value = null
}

atSignOut(() => {
  draft.value = EMPTY
  dryRun.value = null
})
