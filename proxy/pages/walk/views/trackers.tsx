/**
 * Tracker apps that record with the screen off: which one to use, where to install it, and a button that sets
 * it up.
 */
import { words } from '../words.ts'
import { signal, useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { WalkWords } from '#shared/locales/words.ts'
import { Button } from '../../design/button.tsx'
import { showToast } from '../../design/toast.tsx'
import { whenText } from '../format.ts'
import { RECOMMENDED, shopsOf, TRACKER_APPS, type TrackerApp } from '../own-data/tracker-apps.ts'
import { now } from '../session/clock.ts'
import { EmergencyNumbers } from './emergency.tsx'
import { Way } from './feedback-tab.tsx'
import { useEachMinute } from './use-service.tsx'
import { NotDone } from './notice.tsx'
import { View } from './view.tsx'
import type { ClientError, Data } from '#shared/client/index.ts'
import { client, noteError } from '../session/service.ts'
import { valueOfWalk } from '../session/stored-signals.ts'

type MadeTracker = Data<'createTracker'>
type Tracker = Data<'listTrackers'>['items'][number]

const list = valueOfWalk<readonly Tracker[]>([])
/** The tracker just created: its key is shown once. */
const made = valueOfWalk<{ readonly app: TrackerApp; readonly tracker: MadeTracker } | null>(null)
const making = signal<TrackerApp | null>(null)
const trackerError = valueOfWalk<ClientError | null>(null)

function fail(error: ClientError): void {
  trackerError.value = error
  noteError(error)
}

async function readTrackers(): Promise<void> {
  made.value = trackerError.value = null
  const answer = await client.listTrackers({})
  if (answer.ok) list.value = answer.data.items
  else fail(answer.error)
}

/** Reads the trackers again while they are shown. A failure keeps what is shown. */
async function readTrackersAgain(): Promise<void> {
  if (list.peek().length === 0) return
  const answer = await client.listTrackers({})
  if (answer.ok) list.value = answer.data.items
}

async function makeTracker(app: TrackerApp): Promise<void> {
  making.value = app
  trackerError.value = null
  const answer = await client.createTracker({ label: app })
  making.value = null
  if (!answer.ok) return fail(answer.error)
  made.value = { app, tracker: answer.data }
  list.value = [...list.value, answer.data]
}

async function disconnect(id: string): Promise<void> {
  const answer = await client.revokeTracker({ id })
  if (!answer.ok && answer.error.code !== 'not-found') return fail(answer.error)
  list.value = list.value.filter((tracker) => tracker.id !== id)
  if (made.value?.tracker.id === id) made.value = null
}

interface AppProps {
  readonly app: TrackerApp
}

/** The apps available for this phone, the recommended one first. */
const APPS = (Object.keys(TRACKER_APPS) as TrackerApp[]).filter((app) => shopsOf(app).length > 0)

const nameOf = (label: string | null): string | null =>
  label !== null && label in TRACKER_APPS ? TRACKER_APPS[label as TrackerApp].name : label

export function Trackers() {
  const { trackers } = words.value
  const app = useSignal<TrackerApp>(RECOMMENDED)
  useEffect(() => void readTrackers(), [])
  useEachMinute(readTrackersAgain)
  return (
    <View title={trackers.title} back>
      <p>{words.value.record.trackersMore}</p>
      <NotDone error={trackerError.value} />
      <section class="card stack-2">
        <label class="field">
          {trackers.app}
          <select
            value={app.value}
            onChange={({ currentTarget }) => (app.value = currentTarget.value as TrackerApp)}
          >
            {APPS.map((option) => (
              <option key={option} value={option}>
                {TRACKER_APPS[option].name}
              </option>
            ))}
          </select>
        </label>
        <AppSteps app={app.value} />
        <p>{trackers.sos}</p>
        <EmergencyNumbers />
      </section>
      <Connected />
      <ul class="rows card">
        <Way to="file" title={trackers.file} more="GPX, KML, TCX" />
      </ul>
    </View>
  )
}

/** Steps: install the app, then set it up. */
function AppSteps({ app }: AppProps) {
  const { trackers } = words.value
  const shops = shopsOf(app)
  return (
    <ol class="steps">
      <li class="stack-2">
        {shops.map(({ kind, address }) => (
          <a key={kind} class="button" href={address} target="_blank" rel="noreferrer">
            {trackers.install(TRACKER_APPS[app].name)}
            {shops.length > 1 ? ` (${kind})` : null}
          </a>
        ))}
      </li>
      <li class="stack-2">
        {made.value?.app === app ? (
          <SetUp tracker={made.value.tracker} app={app} />
        ) : (
          <Button kind="primary" busy={making.value === app} onClick={() => void makeTracker(app)}>
            {trackers.make}
          </Button>
        )}
      </li>
      <li class="stack-2">
        <p>{trackers.start[app]}</p>
        {shops.some(({ kind }) => kind === 'Android') ? <p>{trackers.battery}</p> : null}
        <p class="quiet">{trackers.both}</p>
      </li>
    </ol>
  )
}

function Connected() {
  const ending = useSignal<string | null>(null)
  const end = async (id: string) => {
    ending.value = id
    await disconnect(id)
    ending.value = null
  }
  if (list.value.length === 0) return null
  return (
    <section class="stack-2">
      <h2>{words.value.trackers.list}</h2>
      <ul class="rows card">
        {list.value.map(({ id, label, created_at: at, last_used_at: used, refused }) => (
          <li key={id} class="wraps">
            <span class="grow">
              <strong>{nameOf(label)}</strong> {words.value.trackers.made(whenText(Date.parse(at), now()))}
              <LastUsed words={words.value.trackers} at={used} madeMs={Date.parse(at)} />
              {refused === undefined ? null : (
                <p class="wrong">
                  {words.value.trackers.trouble[refused.reason](whenText(Date.parse(refused.at), now()))}
                </p>
              )}
            </span>
            <Button busy={ending.value === id} onClick={() => void end(id)}>
              {words.value.trackers.stop}
            </Button>
          </li>
        ))}
      </ul>
    </section>
  )
}

/** How long the service remembers when an app last sent. */
const REMEMBERED_MS = 3 * 86_400_000

/**
 * Whether the app is sending. A new connection is given some time.
 * @param props.at absent: the service does not know at the moment
 */
function LastUsed(props: {
  readonly words: WalkWords['trackers']
  readonly at: string | null | undefined
  readonly madeMs: number
}) {
  const { words, at, madeMs } = props
  if (at === undefined) return null
  if (at !== null) return <p class="good">{words.heard(whenText(Date.parse(at), now()))}</p>
  return now() - madeMs < REMEMBERED_MS ? (
    <p class="quiet">{words.notHeard}</p>
  ) : (
    <p class="wrong">{words.notHeardLately}</p>
  )
}

function SetUp({ app, tracker }: AppProps & { readonly tracker: MadeTracker }) {
  const { url, link } = tracker.apps[app]
  // Without a link, or if the browser cannot copy, the address is typed by hand.
  const { byHand, address, osmandAddress } = words.value.trackers
  const isOwnTracks = app === 'owntracks'
  const about = isOwnTracks ? byHand : app === 'osmand' ? osmandAddress : address
  const typed = useSignal(link === null || isOwnTracks)
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(url)
      showToast(words.value.trackers.copied, { forMs: 4_000 })
    } catch {
      typed.value = true
    }
  }
  return (
    <>
      {isOwnTracks ? <p>{words.value.trackers.allowOwnTracks}</p> : null}
      {link === null ? null : (
        <a class="button primary" href={link}>
          {words.value.trackers.open}
        </a>
      )}
      {typed.value ? (
        <>
          <p>{about}</p>
          <code class="address">{url}</code>
        </>
      ) : null}
      <Button onClick={() => void copy()}>{words.value.trackers.copy}</Button>
      <p class="quiet">{words.value.trackers.secret}</p>
    </>
  )
}
