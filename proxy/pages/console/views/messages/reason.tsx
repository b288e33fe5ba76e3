import { words } from '../../words.ts'

type Known = keyof typeof words.value.messages.reasons

/** What LINE and the sender write, by what it means to an operator. The first that fits counts. */
const KNOWN: readonly (readonly [RegExp, Known])[] = [
  [/^not confirmed within a day/, 'unconfirmed'],
  [/^no recipients are left/, 'erased'],
  [/monthly (quota|limit)/i, 'quota'],
  [/'to'|user ?id/i, 'recipient'],
]

/** Why a message failed or waits: in words where they are known, and as it was said. */
export function Reason({ detail }: { readonly detail: string }) {
  const known = KNOWN.find(([pattern]) => pattern.test(detail))?.[1]
  if (known === undefined) return <>{detail}</>
  return (
    <>
      {words.value.messages.reasons[known]}
      <details>
        <summary>{words.value.messages.asSaid}</summary>
        <code class="quiet">{detail}</code>
      </details>
    </>
  )
}
