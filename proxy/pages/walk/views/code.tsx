/** The recovery code, as words and as a QR code. */
import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { WalkWords } from '#shared/locales/words.ts'
import { Button } from '../../design/button.tsx'
import { language } from '../../frame/language.ts'
import { show } from '../route.ts'
import { keep } from '../session/kept.ts'
import { codeIsSafe, person } from '../session/person.ts'
import { usesLine } from '../session/service.ts'
import { Notice, View } from './view.tsx'

interface Code {
  readonly words: readonly string[]
  /** Side of the QR code in modules, and its dark ones as a path. */
  readonly side: number
  readonly path: string
}

async function codeOf(userId: string): Promise<Code | null> {
  const [{ wordsOf }, { wordlistOf }, { default: encode }] = await Promise.all([
    import('../recovery/recovery-code.ts'),
    import('../recovery/wordlists.ts'),
    import('qr'),
  ])
  const words = wordsOf(userId, await wordlistOf(language.value))
  if (words === null) return null
  // After # nothing leaves the phone: servers never see it.
  const rows = encode(`${location.origin}${location.pathname}#restore=${userId}`, 'raw')
  const path = rows
    .flatMap((row, y) => row.flatMap((dark, x) => (dark ? [`M${x} ${y}h1v1h-1z`] : [])))
    .join('')
  return { words, side: rows.length, path }
}

const code = signal<Code | null | 'failed'>(null)

export function RecoveryCode({ words: { recovery, back, problems } }: { readonly words: WalkWords }) {
  const userId = person.value?.userId ?? ''
  const spoken = language.value
  useEffect(() => {
    if (usesLine.value) return
    void codeOf(userId).then(
      (made) => (code.value = made),
      () => (code.value = 'failed'),
    )
  }, [userId, spoken])
  const made = code.value
  return (
    <View title={recovery.title} back={back}>
      <p>{usesLine.value ? recovery.line : recovery.why}</p>
      {made === 'failed' ? <Notice kind="warning">{problems.network}</Notice> : null}
      {made === null || made === 'failed' ? null : (
        <>
          <ol class="code-words">
            {made.words.map((word) => (
              <li key={word}>
                <strong>{word}</strong>
              </li>
            ))}
          </ol>
          <Button
            kind="primary"
            onClick={() => {
              keep(codeIsSafe, true)
              show('walk')
            }}
          >
            {recovery.safe}
          </Button>
          <p>{recovery.qr}</p>
          <svg class="qr" viewBox={`0 0 ${made.side} ${made.side}`} role="img" aria-label={recovery.title}>
            <rect width={made.side} height={made.side} fill="#fff" />
            <path d={made.path} fill="#000" />
          </svg>
          <p class="quiet">{recovery.lost}</p>
        </>
      )}
    </View>
  )
}
