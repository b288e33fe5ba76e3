/** Links that a pilgrim passes on: make, send, stop. */
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { ClientError, Data } from '#shared/client/index.ts'
import type { WalkWords } from '#shared/locales/walk-words.ts'
import { Button } from '../../design/button.tsx'
import { showToast } from '../../design/toast.tsx'
import { whenText } from '../format.ts'
import { sentenceOf } from '../problem.ts'
import { client, now } from '../session/service.ts'
import { Notice } from './view.tsx'

type Share = Data<'createShare'>

const LIVE_HOURS = 12

export function Shares({ words }: { readonly words: WalkWords }) {
  const { share } = words
  const links = useSignal<readonly Share[] | null>(null)
  const error = useSignal<ClientError | null>(null)
  const showName = useSignal(true)
  const read = async () => {
    const answer = await client.listShares({})
    error.value = answer.ok ? null : answer.error
    if (answer.ok) links.value = answer.data.items
  }
  useEffect(() => void read(), [])
  const make = async (live: boolean) => {
    const answer = await client.createShare({
      show_name: showName.value,
      ...(live ? { live_hours: LIVE_HOURS } : {}),
    })
    error.value = answer.ok ? null : answer.error
    if (!answer.ok) return
    links.value = [answer.data, ...(links.value ?? [])]
    await send(answer.data, words)
  }
  const stop = async (id: string) => {
    const answer = await client.revokeShare({ id })
    error.value = answer.ok || answer.error.code === 'not-found' ? null : answer.error
    if (error.value === null) links.value = (links.value ?? []).filter((one) => one.id !== id)
  }
  return (
    <section class="card stack-2">
      <h2>{share.title}</h2>
      <p>{share.why}</p>
      <label class="check">
        <input
          type="checkbox"
          checked={showName.value}
          onChange={({ currentTarget }) => (showName.value = currentTarget.checked)}
        />
        {share.showName}
      </label>
      <div class="row">
        <Button onClick={() => void make(false)}>{share.make}</Button>
        <Button onClick={() => void make(true)}>{share.makeLive(LIVE_HOURS)}</Button>
      </div>
      {error.value === null ? null : <Notice kind="warning">{sentenceOf(words, error.value)}</Notice>}
      {links.value?.length === 0 ? <p class="quiet">{share.none}</p> : null}
      <ul class="rows">
        {(links.value ?? []).map((link) => (
          <li key={link.id} class="wraps">
            <span class="grow">
              {link.live_until === null || Date.parse(link.live_until) < now()
                ? share.cardOnly
                : share.liveUntil(whenText(Date.parse(link.live_until), now()))}
            </span>
            <a class="button" href={link.image_url} target="_blank" rel="noreferrer">
              {share.card}
            </a>
            <Button onClick={() => void send(link, words)}>{share.send}</Button>
            <Button kind="danger" onClick={() => void stop(link.id)}>
              {share.stop}
            </Button>
          </li>
        ))}
      </ul>
    </section>
  )
}

/** By the phone's own sharing; elsewhere the address is copied. */
async function send({ url }: Share, words: WalkWords): Promise<void> {
  try {
    if (navigator.share) await navigator.share({ url })
    else {
      await navigator.clipboard.writeText(url)
      showToast(words.trackers.copied, { forMs: 4_000 })
    }
  } catch {
    // The pilgrim closed the phone's dialog.
  }
}
