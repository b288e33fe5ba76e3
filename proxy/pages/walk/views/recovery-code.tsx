/** The recovery code, as words and as a QR code. */
import { words } from '../words.ts'
import { signal, useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { Button } from '../../design/button.tsx'
import { QrCode } from '../../design/qr-code.tsx'
import { language } from '../../frame/language.ts'
import { restoreAddress } from '../recovery/app-id.ts'
import { show } from '../route.ts'
import { keep } from '../session/stored-signals.ts'
import { codeIsSafe, person } from '../session/current-state.ts'
import { usesLine } from '../session/service.ts'
import { NotLoaded } from './notice.tsx'
import { View } from './view.tsx'

interface Code {
  readonly words: readonly string[]
  readonly address: string
}

async function codeOf(userId: string): Promise<Code | null> {
  const { wordlistOf, wordsOf } = await import('../recovery/recovery-code.ts')
  const words = wordsOf(userId, await wordlistOf(language.value))
  if (words === null) return null
  return { words, address: restoreAddress(userId) }
}

const code = signal<Code | null | 'failed'>(null)

/** The pilgrim's code, once it is generated. An event with LINE needs none. */
function useCode(): Code | null | 'failed' {
  const userId = person.value?.userId ?? ''
  const spoken = language.value
  useEffect(() => {
    if (usesLine.value) return
    void codeOf(userId).then(
      (made) => (code.value = made),
      () => (code.value = 'failed'),
    )
  }, [userId, spoken])
  return code.value
}

const CodeWords = ({ made }: { readonly made: Code }) => (
  <ol class="code-words">
    {made.words.map((word) => (
      <li key={word}>
        <strong>{word}</strong>
      </li>
    ))}
  </ol>
)

/** The recovery code of the walk that is being replaced, on request. */
export function CodeBehind() {
  const made = useCode()
  return (
    <details class="more">
      <summary>{words.value.recovery.remindButton}</summary>
      {made === 'failed' ? <NotLoaded /> : made === null ? null : <CodeWords made={made} />}
    </details>
  )
}

/** The code for moving the walk to another app of this phone. */
export function CodeToCopy() {
  const made = useCode()
  const copied = useSignal(false)
  if (made === null || made === 'failed') return null
  const copy = () => navigator.clipboard.writeText(made.words.join(' ')).then(() => (copied.value = true))
  return (
    <>
      <p>{words.value.me.installCode}</p>
      <CodeWords made={made} />
      <Button onClick={() => void copy().catch(() => undefined)}>{words.value.recovery.copy}</Button>
      <p class="good" aria-live="polite">
        {copied.value ? words.value.trackers.copied : null}
      </p>
    </>
  )
}

export const Lost = () => (
  <details class="card">
    <summary>{words.value.recovery.lostTitle}</summary>
    <p>{words.value.recovery.lost}</p>
  </details>
)

export function RecoveryCode() {
  const made = useCode()
  return (
    <View title={words.value.recovery.title} back>
      <p>{usesLine.value ? words.value.recovery.line : words.value.recovery.why}</p>
      {made === 'failed' ? <NotLoaded /> : null}
      {made === null || made === 'failed' ? null : (
        <>
          <CodeWords made={made} />
          <Button
            kind="primary"
            onClick={() => {
              keep(codeIsSafe, true)
              show('walk')
            }}
          >
            {words.value.recovery.safe}
          </Button>
          <p>{words.value.recovery.qr}</p>
          <QrCode text={made.address} label={words.value.recovery.title} />
          <Lost />
        </>
      )}
    </View>
  )
}
