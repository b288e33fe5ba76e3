import { eventName } from '../../event.ts'
import { Choice, Field } from '../../parts/fields.tsx'
import { figure } from '#shared/locales/units.ts'
import { useSignal, computed, signal } from '@preact/signals'
import type { ClientError, Data, Input } from '#shared/client/index.ts'
import { Button } from '../../../design/button.tsx'
import { Panel, sentenceOf } from '../../parts/panel.tsx'
import { client, atSignOut } from '../../session.ts'
import { pair, words } from '../../words.ts'
import { LeftOutPeople, leftOutText } from './left-out-people.tsx'
import { showToast } from '../../../design/toast.tsx'
import { Confirm } from '../../parts/actions.tsx'

/** Longest texts that LINE accepts, without and with a title. */
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
        <Send />
      </div>
      <div class="stack previews">
        <LinePreview />
        <NoticePreview />
      </div>
    </div>
  </Panel>
)

function AudienceField() {
  const messages = words.value.messages
  const { audience, hours } = draft.value
  return (
    <div class="row">
      <Choice
        label={messages.audience}
        value={audience}
        options={Object.entries(messages.audiences) as [Audience, string][]}
        onChoose={(chosen) => change({ audience: chosen })}
      />
      {audience === 'inactive' ? (
        <Field
          label={messages.hours}
          type="number"
          min="1"
          max="8760"
          value={hours}
          onType={(typed) => change({ hours: Math.max(1, Number(typed) || 1) })}
        />
      ) : null}
      <AudienceMeans of={audience} />
    </div>
  )
}

/** Explains the audience, if its name does not. */
export function AudienceMeans({ of }: { readonly of: Audience }) {
  const { audienceMeans } = words.value.messages
  if (!(of in audienceMeans)) return null
  return <p class="quiet small audience-means">{audienceMeans[of as keyof typeof audienceMeans]}</p>
}

/** `Recipients: 12 · LINE messages: 12` */
export function countedText({ recipients, cost }: Pick<Counted, 'recipients' | 'cost'>): string {
  const messages = words.value.messages
  return [pair(messages.recipients, figure(recipients)), pair(messages.cost, figure(cost))].join(' · ')
}

function TextFields() {
  const messages = words.value.messages
  const { title, text, image } = draft.value
  // Open if the message uses these fields.
  const isMore = title !== '' || image !== ''
  return (
    <>
      <Field
        long
        label={messages.text}
        maxLength={title === '' ? TEXT_MAX : CARD_TEXT_MAX}
        value={text}
        onType={(typed) => change({ text: typed })}
      />
      <details open={isMore}>
        <summary>{messages.add}</summary>
        <Field
          label={messages.titleField}
          maxLength={TITLE_MAX}
          value={title}
          onType={(typed) => change({ title: typed })}
        />
        <Field
          label={messages.image}
          inputMode="url"
          value={image}
          onType={(typed) => change({ image: typed })}
        />
      </details>
    </>
  )
}

/**
 * The message as LINE shows it: a card with a title, else a picture and a text. The picture itself is not
 * loaded.
 */
function LinePreview() {
  const messages = words.value.messages
  const { title, text, image } = draft.value
  const empty = text === '' && image === ''
  return (
    <figure class="line-preview">
      <figcaption class="small quiet">{messages.preview}</figcaption>
      <div class="line-chat">
        <span class="line-name small">{eventName.value}</span>
        {empty ? <p class="line-bubble quiet">{messages.previewEmpty}</p> : null}
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

/** A push notice has no picture; a message without a text sends none. */
function NoticePreview() {
  const messages = words.value.messages
  const { title, text, image } = draft.value
  const missing = image === '' ? messages.previewEmpty : messages.noticeEmpty
  return (
    <figure class="notice-preview">
      <figcaption class="small quiet">{messages.noticePreview}</figcaption>
      <div class="phone-notice">
        <strong>{title === '' ? eventName.value : title}</strong>
        <p class="small">{text === '' ? missing : text}</p>
      </div>
    </figure>
  )
}

const Picture = ({ url }: { readonly url: string }) => <span class="line-picture small">{url}</span>

/** The recipients are counted before anything is sent. Beyond the quota a second confirmation is needed. */
function Send() {
  const messages = words.value.messages
  const asking = useSignal(false)
  const force = useSignal(false)
  const problem = useSignal<ClientError | null>(null)
  const result = counted.value
  const over = result !== null && result.quota_remaining !== null && result.cost > result.quota_remaining
  const nobody = result !== null && result.recipients === 0 && result.devices === 0
  const count = async () => {
    asking.value = true
    problem.value = null
    dryRun.value = null
    const answer = await client.sendPush({ ...request.value, dry_run: true })
    problem.value = answer.ok ? null : answer.error
    if (answer.ok) setCounted(answer.data)
  }
  return (
    <>
      <p>
        <Button kind="primary" disabled={isEmpty.value} onClick={() => void count()}>
          {messages.send}
        </Button>
      </p>
      <Confirm
        title={result === null ? messages.send : messages.sendTitle(result.recipients)}
        open={asking.value}
        onClose={() => {
          asking.value = false
          force.value = false
        }}
        button={messages.sendButton}
        disabled={result === null || nobody || (over && !force.value)}
        run={() =>
          client.sendPush({
            ...request.value,
            push_id: pushId.value.id,
            ...(force.value ? { force: true } : {}),
          })
        }
        clear={clearDraft}
        onDone={({ recipients }) => showToast(pair(messages.sent, figure(recipients)), { forMs: 8_000 })}
      >
        {asking.value ? (
          <>
            {problem.value === null ? (
              <Count over={over} nobody={nobody} />
            ) : (
              <p class="warn-text">{sentenceOf(problem.value)}</p>
            )}
            <blockquote>
              {draft.value.title === '' ? null : <strong class="block">{draft.value.title}</strong>}
              {draft.value.text || (draft.value.title === '' ? draft.value.image : null)}
            </blockquote>
            {over ? <Over force={force.value} onForce={(value) => (force.value = value)} /> : null}
          </>
        ) : null}
      </Confirm>
    </>
  )
}

interface CountProps {
  readonly over: boolean
  readonly nobody: boolean
}

function Count({ over, nobody }: CountProps) {
  const messages = words.value.messages
  const named = useSignal(false)
  const result = counted.value
  if (result === null) return <p class="quiet">{words.value.common.loading}</p>
  const { recipients, cost, quota_remaining, left_out, devices, pending } = result
  const { audience, hours } = draft.value
  const missed = leftOutText(left_out)
  return (
    <>
      <output class="count">
        <strong>{pair(messages.cost, figure(cost))}</strong>
        {quota_remaining === null ? null : (
          <span class={over ? 'warn-text' : 'quiet'}>{pair(messages.left, figure(quota_remaining))}</span>
        )}
        {nobody ? <span class="warn-text">{messages.nobody}</span> : null}
        {devices === 0 ? null : <span>{pair(messages.devices, figure(devices))}</span>}
        {pending === null ? <span class="warn-text">{words.value.people.pendingUnknown}</span> : null}
        {recipients === 0 ? null : <span class="small">{messages.reachUnsure}</span>}
      </output>
      {missed === '' ? null : (
        <details onToggle={({ currentTarget }) => (named.value = currentTarget.open)}>
          <summary class="warn-text">{missed}</summary>
          {named.value ? (
            <LeftOutPeople of={{ audience, ...(audience === 'inactive' ? { hours } : {}) }} />
          ) : null}
        </details>
      )}
    </>
  )
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

// The draft message and its cost.

type Audience = NonNullable<Input<'sendPush'>['audience']>

interface Draft {
  readonly audience: Audience
  /** For inactive participants: hours without a point. */
  readonly hours: number
  readonly title: string
  readonly text: string
  readonly image: string
}

const EMPTY: Draft = { audience: 'volunteers', hours: 24, title: '', text: '', image: '' }

/** Kept while the operator visits another view. */
export const draft = signal<Draft>(EMPTY)

/** Makes a repeated request send the message only once. A changed message gets a new id. */
const pushId = computed(() => ({ of: draft.value, id: crypto.randomUUID() as string }))

type Counted = Data<'sendPush'>
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
