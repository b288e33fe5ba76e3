/**
 * Adds a recorded file to the walk: choose it, preview its way and kilometres, then store and send its
 * points.
 */
import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { RecordedFileWords } from '#shared/locales/words.ts'
import { Button } from '../../design/button.tsx'
import { language } from '../../frame/language.ts'
import { whenText } from '../format.ts'
import { readRecordedWalk, type RecordedWalk, type RecordedWalkFault } from '../own-data/recorded-walk.ts'
import { now } from '../session/clock.ts'
import { keepTrack } from '../outbox.ts'
import { consentWithdrawn } from '../session/current-state.ts'
import { config, hasEnded } from '../session/service.ts'
import { withoutReload } from '../session/update.ts'
import { recordedFileWords, words } from '../words.ts'
import { Closed } from './feedback-tab.tsx'
import { Notice } from './notice.tsx'
import { Waiting } from './waiting.tsx'
import { WayMap } from './way-map.tsx'

const DAY_MS = 86_400_000
/** Used if the configuration lacks it, as one stored by an older release does. */
const MAX_AGE_DAYS = 30

const texts = signal<RecordedFileWords | null>(null)

/** Loads the texts in the page's language. Rejects without a network, the first time. */
export async function loadTexts(): Promise<void> {
  texts.value = (await recordedFileWords(language.value)).words
}

type Chosen =
  | { readonly step: 'none' | 'reading' | 'unreadable' }
  | { readonly step: 'refused'; readonly fault: RecordedWalkFault }
  | { readonly step: 'shown' | 'adding' | 'not-kept' | 'added'; readonly walk: RecordedWalk }

const chosen = signal<Chosen>({ step: 'none' })

const maxAgeDays = (): number => config.value?.max_age_days ?? MAX_AGE_DAYS

/** Reads the file that was chosen last. */
async function read(file: File): Promise<void> {
  const reading: Chosen = { step: 'reading' }
  chosen.value = reading
  let next: Chosen
  try {
    const bytes = new Uint8Array(await file.arrayBuffer())
    const walk = await readRecordedWalk(bytes, now(), maxAgeDays() * DAY_MS)
    next = walk.ok ? { step: 'shown', walk } : { step: 'refused', fault: walk }
  } catch {
    // For example a file in a cloud that is unreachable.
    next = { step: 'unreadable' }
  }
  if (chosen.value === reading) chosen.value = next
}

async function add(walk: RecordedWalk): Promise<void> {
  chosen.value = { step: 'adding', walk }
  chosen.value = { step: (await keepTrack(walk.points)) ? 'added' : 'not-kept', walk }
}

export function AddRecordedFile() {
  useEffect(() => {
    void loadTexts().catch(() => undefined)
    return () => (chosen.value = { step: 'none' })
  }, [])
  const messages = texts.value!
  const shown = chosen.value
  return (
    <>
      <p>{messages.why}</p>
      <Closed />
      {consentWithdrawn.value ? <Notice kind="warning">{words.value.record.noConsent}</Notice> : null}
      <ChooseFile text={shown.step === 'none' ? messages.choose : messages.chooseOther} />
      <div class="stack" aria-live="polite">
        <Outcome messages={messages} shown={shown} />
      </div>
    </>
  )
}

function Outcome({ messages, shown }: { readonly messages: RecordedFileWords; readonly shown: Chosen }) {
  switch (shown.step) {
    case 'none':
      return null
    case 'reading':
      return <p>{messages.reading}</p>
    case 'unreadable':
      return <Notice kind="warning">{messages.faults.unreadable}</Notice>
    case 'refused':
      return <Notice kind="warning">{faultText(messages, shown.fault)}</Notice>
    case 'added':
      return (
        <>
          <p class="good">
            {messages.added(shown.walk.points.length)} {words.value.queue.safe}
          </p>
          <Waiting />
        </>
      )
    case 'shown':
    case 'adding':
    case 'not-kept':
      return <Preview messages={messages} walk={shown.walk} step={shown.step} />
  }
}

/** Phones grey out files of unknown types, so the field accepts all. */
const ChooseFile = ({ text }: { readonly text: string }) => (
  <label class="button picture-field">
    {text}
    <input
      class="visually-hidden"
      type="file"
      onClick={({ currentTarget }) => void withoutReload(closed(currentTarget))}
      onChange={({ currentTarget }) => {
        const file = currentTarget.files?.[0]
        if (file !== undefined) void read(file)
        // Allows choosing the same file again.
        currentTarget.value = ''
      }}
    />
  </label>
)

/** Resolves when the phone's file picker, which hides the app, is closed. */
const closed = (field: HTMLInputElement): Promise<unknown> =>
  new Promise((resolve) => {
    for (const end of ['change', 'cancel']) field.addEventListener(end, resolve, { once: true })
  })

function Preview(props: {
  readonly messages: RecordedFileWords
  readonly walk: RecordedWalk
  readonly step: 'shown' | 'adding' | 'not-kept'
}) {
  const { messages, walk, step } = props
  const left = leftOutTexts(messages, walk)
  const mayAdd = !hasEnded() && !consentWithdrawn.value
  return (
    <>
      <div class="way-map">
        <WayMap still drawn={walk.way} />
        <strong class="way-map-km" data-over-map>
          {messages.km(walk.km)}
        </strong>
      </div>
      <section class="card stack-2">
        <p>
          {messages.time(whenText(walk.from, now()), whenText(walk.to, now()))}
          {walk.rideKm === 0 ? null : <span class="block quiet">{messages.rides(walk.rideKm)}</span>}
        </p>
        {left.length === 0 ? null : (
          <div>
            <p class="strong">{messages.leftOut}</p>
            <ul class="sentences">
              {left.map((text) => (
                <li key={text}>{text}</li>
              ))}
            </ul>
          </div>
        )}
        <p class="quiet">{messages.once}</p>
        {step === 'not-kept' ? <Notice kind="warning">{messages.notKept}</Notice> : null}
        {mayAdd ? (
          <Button kind="primary" busy={step === 'adding'} onClick={() => void add(walk)}>
            {messages.add}
          </Button>
        ) : null}
      </section>
    </>
  )
}

function leftOutTexts({ reasons }: RecordedFileWords, { leftOut }: RecordedWalk): string[] {
  const names = ['early', 'late', 'untimed', 'misplaced', 'repeated', 'rough'] as const
  return names.filter((name) => leftOut[name] > 0).map((name) => reasons[name](leftOut[name], maxAgeDays()))
}

function faultText(messages: RecordedFileWords, fault: RecordedWalkFault): string {
  if (fault.code !== 'outside-period') return messages.faults[fault.code]
  const [first, last] = [whenText(fault.first, now()), now()]
  if (fault.last < last) return messages.tooOld(first, maxAgeDays())
  return fault.first > last ? messages.future(first) : messages.mixed
}
