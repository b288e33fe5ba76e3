/** Tracker apps that record with the screen off: one touch sets one up. */
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { ClientError, Data } from '#shared/client/index.ts'
import type { WalkWords } from '#shared/locales/walk-words.ts'
import { Button } from '../../design/button.tsx'
import { showToast } from '../../design/toast.tsx'
import { whenText } from '../format.ts'
import { sentenceOf } from '../problem.ts'
import { client, noteError, now } from '../session/service.ts'
import { Notice, View } from './view.tsx'

type Made = Data<'createTracker'>
type App = keyof Made['apps']
type Tracker = Data<'listTrackers'>['items'][number]

export function Trackers({ words }: { readonly words: WalkWords }) {
  const { trackers } = words
  const list = useSignal<readonly Tracker[]>([])
  const made = useSignal<{ readonly app: App; readonly tracker: Made } | null>(null)
  const busy = useSignal<App | null>(null)
  const error = useSignal<ClientError | null>(null)
  const fail = (failed: ClientError) => {
    error.value = failed
    noteError(failed)
  }
  const read = async () => {
    const answer = await client.listTrackers({})
    if (answer.ok) list.value = answer.data.items
    else fail(answer.error)
  }
  useEffect(() => void read(), [])
  const make = async (app: App) => {
    busy.value = app
    error.value = null
    const answer = await client.createTracker({ label: app })
    busy.value = null
    if (!answer.ok) return fail(answer.error)
    made.value = { app, tracker: answer.data }
    list.value = [...list.value, answer.data]
  }
  const stop = async (id: string) => {
    const answer = await client.revokeTracker({ id })
    if (!answer.ok && answer.error.code !== 'not-found') return fail(answer.error)
    list.value = list.value.filter((one) => one.id !== id)
    if (made.value?.tracker.id === id) made.value = null
  }
  return (
    <View title={trackers.title} back={words.back}>
      <p>{trackers.why}</p>
      {error.value === null ? null : <Notice kind="warning">{sentenceOf(words, error.value)}</Notice>}
      {(Object.entries<string>(trackers.apps) as [App, string][]).map(([app, text]) => (
        <section key={app} class="card stack-2">
          <h2>{text}</h2>
          {made.value?.app === app ? (
            <SetUp words={words} tracker={made.value.tracker} app={app} />
          ) : (
            <Button busy={busy.value === app} onClick={() => void make(app)}>
              {trackers.make}
            </Button>
          )}
        </section>
      ))}
      <section class="stack-2">
        <h2>{trackers.list}</h2>
        {list.value.length === 0 ? <p class="quiet">{trackers.none}</p> : null}
        <ul class="rows">
          {list.value.map(({ id, label, created_at: at }) => (
            <li key={id}>
              <span class="grow">
                {label} {trackers.made(whenText(Date.parse(at), now()))}
              </span>
              <Button kind="danger" onClick={() => void stop(id)}>
                {trackers.stop}
              </Button>
            </li>
          ))}
        </ul>
      </section>
    </View>
  )
}

function SetUp(props: { readonly words: WalkWords; readonly tracker: Made; readonly app: App }) {
  const { trackers } = props.words
  const { url, link } = props.tracker.apps[props.app]
  const copy = async () => {
    await navigator.clipboard.writeText(url)
    showToast(trackers.copied, { forMs: 4_000 })
  }
  return (
    <div class="stack-2">
      {link === null ? <p>{trackers.address}</p> : <p>{trackers.ready}</p>}
      {link === null ? (
        <code class="address">{url}</code>
      ) : (
        <a class="button primary" href={link}>
          {trackers.open}
        </a>
      )}
      <Button onClick={() => void copy()}>{trackers.copy}</Button>
      <p class="quiet">{trackers.secret}</p>
    </div>
  )
}
