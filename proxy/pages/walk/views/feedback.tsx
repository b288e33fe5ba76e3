/** A report with a picture. */
import { words } from '../words.ts'
import { useEffect } from 'preact/hooks'
import type { WalkWords } from '#shared/locales/words.ts'
import { Button } from '../../design/button.tsx'
import { roughText, timeText } from '../format.ts'
import {
  beginReport,
  fault,
  givePicture,
  outcome,
  picture,
  sending,
  sendReport,
  write,
  written,
} from '../feedback/report.ts'
import { place, placeFault, wantPlace, wantsPlace } from '../feedback/place.ts'
import { positionSentence } from '../problem.ts'
import { whyWaits } from './waiting.tsx'
import { withoutReload } from '../session/update.ts'
import { EmergencyNumbers } from './emergency.tsx'
import { Closed } from './feedback-tab.tsx'
import { NotDone, Notice } from './notice.tsx'
import { View } from './view.tsx'

/** Focuses a field that has an error, which may be out of view. */
function send(): void {
  void sendReport()
  if (typeof fault.value === 'string') document.getElementById(fault.value)?.focus()
}

export function Feedback() {
  const { feedback } = words.value
  useEffect(beginReport, [])
  const problem = fault.value
  return (
    <View
      title={feedback.title}
      back
      action={
        outcome.value === null ? (
          <Button kind="primary" busy={sending.value} onClick={send}>
            {feedback.send}
          </Button>
        ) : null
      }
      step={outcome.value === null}
    >
      <Closed />
      <EmergencyNumbers />
      {outcome.value !== null ? (
        <Outcome />
      ) : (
        <>
          <Fields words={feedback} />
          {problem === 'picture' ? <Notice kind="warning">{feedback.pictureTooLarge}</Notice> : null}
          <NotDone error={typeof problem === 'object' ? problem : null} />
          <Place />
        </>
      )}
    </View>
  )
}

/** State of the report: arrived, or queued and sent automatically. */
function Outcome() {
  const { number, withPlace } = outcome.value!
  const { feedback, queue } = words.value
  if (number === null && sending.value) return <p aria-live="polite">{queue.sending}</p>
  const waits = number === null
  const texts = [
    withPlace === null ? null : withPlace ? feedback.withPlace : feedback.withoutPlace,
    waits ? whyWaits() : feedback.next,
  ]
  return (
    <Notice {...(waits ? { kind: 'warning' } : {})}>
      <strong>{waits ? feedback.waits : feedback.sent(number)}</strong>
      {texts.map((text) =>
        text === null ? null : (
          <span key={text} class="block">
            {text}
          </span>
        ),
      )}
    </Notice>
  )
}

const Fields = ({ words }: { readonly words: WalkWords['feedback'] }) => (
  <>
    <div class="field">
      <label for="category">{words.category}</label>
      <select
        id="category"
        aria-invalid={fault.value === 'category'}
        value={written.value.category}
        onChange={({ currentTarget }) => write({ category: currentTarget.value })}
      >
        <option value="" disabled>
          {words.choose}
        </option>
        {Object.entries<string>(words.categories).map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
      {fault.value === 'category' ? (
        <p class="wrong" role="alert">
          {words.choose}
        </p>
      ) : null}
    </div>
    <div class="field">
      <label for="report">{words.text}</label>
      <p id="report-readers" class="quiet">
        {words.sends}
        <br />
        {words.next}
      </p>
      <textarea
        id="report"
        rows={5}
        maxLength={2_000}
        aria-invalid={fault.value === 'report'}
        value={written.value.text}
        aria-describedby="report-readers"
        onInput={({ currentTarget }) => write({ text: currentTarget.value })}
      />
      {fault.value === 'report' ? (
        <p class="wrong" role="alert">
          {words.missing}
        </p>
      ) : null}
    </div>
    <Picture words={words} />
  </>
)

/** Whether the report includes the position, and which. */
function Place() {
  const { feedback } = words.value
  const here = place.value
  return (
    <div class="stack-2">
      <label class="check">
        <input
          type="checkbox"
          checked={wantsPlace.value}
          aria-describedby="place-said"
          onChange={({ currentTarget }) => void wantPlace(currentTarget.checked)}
        />
        {feedback.place}
      </label>
      <p id="place-said" class="quiet" aria-live="polite">
        {!wantsPlace.value
          ? feedback.placeNone
          : placeFault.value !== null
            ? `${positionSentence(placeFault.value)} ${feedback.placeNone}`
            : here === null
              ? words.value.checkIn.busy
              : [feedback.placeFound(timeText(here.t)), roughText(words.value, here.accuracy)]
                  .filter((text) => text !== null)
                  .join(' ')}
      </p>
    </div>
  )
}

/** The report's picture, previewed before it is sent. */
function Picture({ words }: { readonly words: WalkWords['feedback'] }) {
  const shown = picture.value
  return (
    <>
      {shown === null ? null : <img class="picture-chosen" src={shown} alt={words.pictureAlt} />}
      {/* The browser's own file field is in the phone's language, not the chosen one. */}
      <label class="button picture-field">
        {shown === null ? words.picture : words.pictureOther}
        <input
          class="visually-hidden"
          type="file"
          accept="image/*"
          onClick={({ currentTarget }) => void withoutReload(chosenIn(currentTarget))}
          onChange={({ currentTarget }) => choosePicture(currentTarget)}
        />
      </label>
      {shown === null ? null : (
        <Button kind="plain" onClick={() => givePicture(null)}>
          {words.pictureRemove}
        </Button>
      )}
    </>
  )
}

/** Resolves when the phone's picture picker or camera, which hides the app, is closed. */
const chosenIn = (field: HTMLInputElement): Promise<unknown> =>
  new Promise((resolve) => {
    for (const end of ['change', 'cancel']) field.addEventListener(end, resolve, { once: true })
  })

/** Cancelling the picker keeps the previous picture. */
function choosePicture(field: HTMLInputElement): void {
  const file = field.files?.[0]
  if (file !== undefined) givePicture(file)
  // Allows choosing the same picture again after it was removed.
  field.value = ''
}
