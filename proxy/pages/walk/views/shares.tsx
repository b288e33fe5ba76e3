/** The pilgrim's share links: create, send, revoke. */
import { words } from '../words.ts'
import { signal, useSignal } from '@preact/signals'
import { Button } from '../../design/button.tsx'
import { whenText } from '../format.ts'
import { notDoneSentence, sentenceOf } from '../problem.ts'
import { now } from '../session/clock.ts'
import { useEachMinute, useReading } from './use-service.tsx'
import { Notice } from './notice.tsx'
import { View } from './view.tsx'
import { publicMapSentence } from './welcome.tsx'
import type { ClientError, Data } from '#shared/client/index.ts'
import { client, liveUntilMs, noteError } from '../session/service.ts'
import { entriesOf, keepEntry, sendKept, takeRefused, waitingOf, whenSettled } from '../outbox.ts'
import type { ShareFields } from '../session/senders.ts'
import { keep, valueOfWalk } from '../session/stored-signals.ts'

type Share = Data<'createShare'>

/** Duration for which a link shows the live position. */
const LIVE_HOURS = 12

/** Null until read. */
const shares = valueOfWalk<readonly Share[] | null>(null)
/** Positions are sent more often while a live link is open. */
shares.subscribe((all) => {
  if (all !== null)
    keep(liveUntilMs, Math.max(0, ...all.map((link) => Date.parse(link.live_until ?? '') || 0)))
})
const shareError = valueOfWalk<ClientError | null>(null)
/** The failed action was a tap of the pilgrim, which is not retried. */
const pressFailed = valueOfWalk(false)
const showsName = signal(true)

function fail(error: ClientError, pressed = true): null {
  shareError.value = error
  pressFailed.value = pressed
  noteError(error)
  return null
}

/** Incremented when a link is created or revoked: a read that began before is outdated. */
const sharesChanged = signal(0)

/** Reads the view counts again. A failure keeps what is shown. */
async function readSharesAgain(): Promise<void> {
  const asked = sharesChanged.peek()
  const answer = await client.listShares({})
  if (!answer.ok) noteError(answer.error)
  else if (asked === sharesChanged.peek()) await show(answer.data.items)
}

/** Shows links, without those whose revocation is queued. */
async function show(all: readonly Share[]): Promise<void> {
  const ending = await entriesOf('unshare')
  shares.value = all.filter(({ id }) => !ending.some(({ fields }) => (fields as Share).id === id))
}

async function readShares(): Promise<void> {
  shareError.value = null
  const answer = await client.listShares({})
  if (answer.ok) await show(answer.data.items)
  else fail(answer.error, false)
}

const ID_BYTES = 18
const newShareId = (): string =>
  btoa(String.fromCodePoint(...crypto.getRandomValues(new Uint8Array(ID_BYTES))))
    .replaceAll('+', '-')
    .replaceAll('/', '_')

/** @returns null if the service rejects it or the link is still queued */
async function makeShare(live: boolean): Promise<Share | null> {
  shareError.value = null
  const link: ShareFields = {
    id: newShareId(),
    show_name: showsName.value,
    ...(live ? { live_hours: LIVE_HOURS } : {}),
  }
  const before = sharesChanged.peek()
  const isKept = await keepEntry('share', link)
  if (!isKept.ok) return fail(isKept.error)
  await sendKept()
  return sharesChanged.peek() === before ? null : (shares.peek()?.[0] ?? null)
}

whenSettled('share', (_, { data, error }) => {
  if (error !== undefined) {
    void takeRefused('share')
    return void fail(error)
  }
  sharesChanged.value++
  shares.value = [data as Share, ...(shares.value ?? [])]
})
// A link that has already ended is not an error.
whenSettled('unshare', (_, { error }) => void (error && takeRefused('unshare')))

/** @returns whether it is revoked, or its revocation is queued */
async function stopShare(id: string): Promise<boolean> {
  shareError.value = null
  const isKept = await keepEntry('unshare', { id })
  if (!isKept.ok) {
    fail(isKept.error)
    return false
  }
  await sendKept()
  sharesChanged.value++
  shares.value = (shares.value ?? []).filter((link) => link.id !== id)
  return true
}

/** The link that was copied last. */
const copied = valueOfWalk<string | null>(null)
/** The link that the browser could neither share nor copy, for copying by hand. */
const byHand = valueOfWalk<string | null>(null)

const sharesFailed = (): boolean => shares.peek() === null && shareError.peek() !== null

/** Followers may open a link at any time. */
const readOpened = (): void => {
  if ((shares.peek()?.length ?? 0) > 0) void readSharesAgain()
}

/** Existing links first; creating another one takes a tap. */
export function ShareLinks() {
  const { share } = words.value
  useReading(readShares, sharesFailed)
  useEachMinute(readOpened)
  const hasStopped = useSignal(false)
  const links = shares.value ?? []
  return (
    // Messages about a new or revoked link appear above the button.
    <View title={share.title} back step={sharesChanged.value}>
      {shareError.value === null ? null : (
        <Notice kind="warning">{(pressFailed.value ? notDoneSentence : sentenceOf)(shareError.value)}</Notice>
      )}
      <p class="good" aria-live="polite" hidden={!hasStopped.value}>
        {hasStopped.value ? (waitingOf('unshare') > 0 ? words.value.me.waits : share.stopped) : null}
      </p>
      <p aria-live="polite">{waitingOf('share') > 0 ? share.waits : null}</p>
      {links.map((link) => (
        <Link key={link.id} link={link} onStop={() => (hasStopped.value = true)} />
      ))}
      {links.length === 0 ? (
        <>
          <p>{share.why}</p>
          <section class="card">
            <Make onMake={() => (hasStopped.value = false)} />
          </section>
        </>
      ) : (
        // Closes again after a link was created.
        <details class="card" key={sharesChanged.value}>
          <summary>{share.another}</summary>
          <Make onMake={() => (hasStopped.value = false)} />
        </details>
      )}
      <p class="quiet">{publicMapSentence()}</p>
    </View>
  )
}

function Make({ onMake }: { readonly onMake: () => void }) {
  const { share } = words.value
  const making = useSignal<boolean | null>(null)
  const make = async (live: boolean) => {
    making.value = live
    onMake()
    copied.value = byHand.value = null
    const made = await makeShare(live).finally(() => (making.value = null))
    if (made !== null) await send(made)
  }
  return (
    <div class="stack-2">
      <label class="check">
        <input
          type="checkbox"
          checked={showsName.value}
          onChange={({ currentTarget }) => (showsName.value = currentTarget.checked)}
        />
        {share.showName}
      </label>
      <Button kind="primary" busy={making.value === true} onClick={() => void make(true)}>
        {share.makeLive(LIVE_HOURS)}
      </Button>
      <Button busy={making.value === false} onClick={() => void make(false)}>
        {share.make}
      </Button>
    </div>
  )
}

interface LinkProps {
  readonly link: Share
  readonly onStop: () => void
}

function Link({ link, onStop }: LinkProps) {
  const { share } = words.value
  const untilMs = link.live_until === null ? 0 : Date.parse(link.live_until)
  return (
    <section class="card stack-2" data-share>
      <h2>
        {/* The share page does not count the pilgrim's own visit. */}
        <a href={`${link.url}#own`} target="_blank" rel="noreferrer">
          {untilMs < now() ? share.cardOnly : share.liveUntil(whenText(untilMs, now()))}
        </a>
      </h2>
      <p class="quiet">
        {link.last_viewed_at === null
          ? share.notOpened
          : share.opened(link.views, whenText(Date.parse(link.last_viewed_at), now()))}
        {/* Above its buttons: a toast would cover them. */}
        <span class="block good" aria-live="polite">
          {copied.value === link.id ? share.copied : null}
        </span>
      </p>
      {byHand.value === link.id ? (
        <p>
          {share.byHand} <code class="address">{link.url}</code>
        </p>
      ) : null}
      <div class="row ends">
        <Button kind="primary" onClick={() => void send(link)}>
          {share.send}
        </Button>
        <Button onClick={() => void stopShare(link.id).then((hasStopped) => hasStopped && onStop())}>
          {share.stop}
        </Button>
      </div>
    </section>
  )
}

/** Sends the link through the phone's share sheet, or copies the address. */
async function send({ id, url }: Share): Promise<void> {
  copied.value = null
  byHand.value = null
  try {
    if (navigator.share) await navigator.share({ url })
    else {
      await navigator.clipboard.writeText(url)
      copied.value = id
    }
  } catch (error) {
    // An `AbortError` means that the pilgrim closed the share sheet.
    if (!(error instanceof DOMException && error.name === 'AbortError')) byHand.value = id
  }
}
