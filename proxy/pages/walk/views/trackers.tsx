/** Tracker apps that record with the screen off: one touch sets one up. */
import { useEffect } from 'preact/hooks'
import type { WalkWords } from '#shared/locales/walk-words.ts'
import { Button } from '../../design/button.tsx'
import { showToast } from '../../design/toast.tsx'
import { whenText } from '../format.ts'
import {
  disconnect,
  made,
  type MadeTracker,
  makeTracker,
  making,
  readTrackers,
  type TrackerApp,
  trackerError,
  trackers as list,
} from '../own-data/trackers.ts'
import { sentenceOf } from '../problem.ts'
import { now } from '../session/service.ts'
import { Notice, View } from './view.tsx'

/** The apps' own names, the same in every language. */
const NAMES: Readonly<Record<string, string>> = {
  traccar: 'Traccar Client',
  owntracks: 'OwnTracks',
  overland: 'Overland',
  gpslogger: 'GPSLogger',
  osmand: 'OsmAnd',
} satisfies Record<TrackerApp, string>

export function Trackers({ words }: { readonly words: WalkWords }) {
  const { trackers } = words
  useEffect(() => void readTrackers(), [])
  return (
    <View title={trackers.title} back={words.back}>
      <p>{trackers.why}</p>
      {trackerError.value === null ? null : (
        <Notice kind="warning">{sentenceOf(words, trackerError.value)}</Notice>
      )}
      {(Object.entries<string>(trackers.apps) as [TrackerApp, string][]).map(([app, text]) => (
        <section key={app} class="card stack-2">
          <h2>{NAMES[app]}</h2>
          <p>{text}</p>
          {made.value?.app === app ? (
            <SetUp words={words} tracker={made.value.tracker} app={app} />
          ) : (
            <Button busy={making.value === app} onClick={() => void makeTracker(app)}>
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
            <li key={id} class="wraps">
              <span class="grow">
                <strong>{NAMES[label ?? ''] ?? label}</strong>{' '}
                {trackers.made(whenText(Date.parse(at), now()))}
              </span>
              <Button kind="danger" onClick={() => void disconnect(id)}>
                {trackers.stop}
              </Button>
            </li>
          ))}
        </ul>
      </section>
    </View>
  )
}

function SetUp(props: {
  readonly words: WalkWords
  readonly tracker: MadeTracker
  readonly app: TrackerApp
}) {
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
