/** A report with a picture. */
import { useEffect } from 'preact/hooks'
import type { WalkWords } from '#shared/locales/walk-words.ts'
import { Button } from '../../design/button.tsx'
import { sentenceOf } from '../problem.ts'
import { arrived, beginReport, fault, picture, sending, sendReport, written } from '../feedback/report.ts'
import { show } from '../route.ts'
import { keep } from '../session/kept.ts'
import { Notice, View } from './view.tsx'

export function Feedback({ words }: { readonly words: WalkWords }) {
  const { feedback } = words
  useEffect(beginReport, [])
  const said = fault.value
  return (
    <View title={feedback.title} back={words.back}>
      {arrived.value !== null ? (
        <Arrived words={feedback} />
      ) : (
        <>
          <Fields words={feedback} />
          {said === 'category' ? <Notice kind="warning">{feedback.categoryMissing}</Notice> : null}
          {said === 'missing' ? <Notice kind="warning">{feedback.missing}</Notice> : null}
          {said === 'picture' ? <Notice kind="warning">{feedback.pictureTooLarge}</Notice> : null}
          {typeof said === 'object' && said !== null ? (
            <Notice kind="warning">{sentenceOf(words, said)}</Notice>
          ) : null}
          <Button kind="primary" busy={sending.value} onClick={() => void sendReport()}>
            {feedback.send}
          </Button>
        </>
      )}
    </View>
  )
}

function Arrived({ words }: { readonly words: WalkWords['feedback'] }) {
  const { number, withPicture } = arrived.value!
  return (
    <>
      <Notice>
        <strong>{words.sent(number)}</strong>
        <br />
        {withPicture ? words.withPicture : words.withoutPicture}
        <br />
        {words.readers}
      </Notice>
      <Button kind="primary" onClick={() => show('say')}>
        {words.done}
      </Button>
    </>
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
        onChange={({ currentTarget }) => keep(written, { ...written.value, category: currentTarget.value })}
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
    </div>
    <div class="field">
      <label for="report">{words.text}</label>
      <textarea
        id="report"
        rows={5}
        maxLength={2_000}
        aria-invalid={fault.value === 'missing'}
        value={written.value.text}
        onInput={({ currentTarget }) => keep(written, { ...written.value, text: currentTarget.value })}
      />
    </div>
    {/* The browser's own field speaks the phone's language, not the one that was chosen. */}
    <label class="button picture-field">
      {picture.value === null ? null : <span aria-hidden="true">✓ </span>}
      {picture.value === null ? words.picture : words.pictureOther}
      <input
        class="visually-hidden"
        type="file"
        accept="image/*"
        onChange={({ currentTarget }) => (picture.value = currentTarget.files?.[0] ?? null)}
      />
    </label>
    {picture.value === null ? null : <p class="quiet">{picture.value.name}</p>}
  </>
)
