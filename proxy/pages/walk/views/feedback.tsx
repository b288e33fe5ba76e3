/** A report with a picture. It is written on the device until it has arrived. */
import { useSignal } from '@preact/signals'
import type { ClientError } from '#shared/client/index.ts'
import type { WalkWords } from '#shared/locales/walk-words.ts'
import { Button } from '../../design/button.tsx'
import { smallPicture } from '../say/small-picture.ts'
import { sentenceOf } from '../problem.ts'
import { keep, kept } from '../session/kept.ts'
import { client, noteError } from '../session/service.ts'
import { Notice, View } from './view.tsx'

const written = kept('walk-feedback', { category: 'app', text: '' })

export function Feedback({ words }: { readonly words: WalkWords }) {
  const { feedback } = words
  const picture = useSignal<File | null>(null)
  const missing = useSignal(false)
  const unreadable = useSignal(false)
  const busy = useSignal(false)
  const error = useSignal<ClientError | null>(null)
  const number = useSignal<number | null>(null)
  const send = async () => {
    missing.value = written.value.text.trim() === ''
    if (missing.value) return document.getElementById('report')?.focus()
    busy.value = true
    unreadable.value = false
    error.value = null
    try {
      const url = picture.value === null ? null : await upload(picture.value)
      if (url === 'unreadable') {
        unreadable.value = true
        return
      }
      const { category, text } = written.value
      const answer = await client.submitFeedback({
        category,
        description: text,
        user_agent: navigator.userAgent.slice(0, 400),
        ...(url === null ? {} : { screenshot_url: url }),
      })
      if (!answer.ok) throw answer.error
      number.value = answer.data.id
      keep(written, { category, text: '' })
    } catch (failed) {
      error.value = failed as ClientError
      noteError(error.value)
    } finally {
      busy.value = false
    }
  }
  if (number.value !== null)
    return (
      <View title={feedback.title} back={words.back}>
        <Notice>{feedback.sent(number.value)}</Notice>
      </View>
    )
  return (
    <View title={feedback.title} back={words.back}>
      <div class="field">
        <label for="category">{feedback.category}</label>
        <select
          id="category"
          value={written.value.category}
          onChange={({ currentTarget }) => keep(written, { ...written.value, category: currentTarget.value })}
        >
          {Object.entries<string>(feedback.categories).map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      </div>
      <div class="field">
        <label for="report">{feedback.text}</label>
        <textarea
          id="report"
          rows={5}
          maxLength={2_000}
          aria-invalid={missing.value}
          value={written.value.text}
          onInput={({ currentTarget }) => keep(written, { ...written.value, text: currentTarget.value })}
        />
        {missing.value ? (
          <p class="wrong" role="alert">
            {feedback.missing}
          </p>
        ) : null}
      </div>
      <div class="field">
        <label for="picture">{feedback.picture}</label>
        <input
          id="picture"
          type="file"
          accept="image/*"
          onChange={({ currentTarget }) => (picture.value = currentTarget.files?.[0] ?? null)}
        />
      </div>
      {unreadable.value ? <Notice kind="warning">{feedback.pictureTooLarge}</Notice> : null}
      {error.value === null ? null : <Notice kind="warning">{sentenceOf(words, error.value)}</Notice>}
      <Button kind="primary" busy={busy.value} onClick={() => void send()}>
        {feedback.send}
      </Button>
    </View>
  )
}

/** @throws ClientError */
async function upload(file: File): Promise<string | 'unreadable'> {
  const small = await smallPicture(file)
  if (small === null) return 'unreadable'
  const answer = await client.uploadScreenshot({ body: small })
  if (answer.ok) return answer.data.url
  if (answer.error.code === 'invalid-request' || answer.error.status === 413) return 'unreadable'
  throw answer.error
}
