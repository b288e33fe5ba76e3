/** A QR code; its script is loaded when it is first shown. */
import { useEffect } from 'preact/hooks'
import { useSignal } from '@preact/signals'

/** @param label its meaning, for screen readers */
export function QrCode({ text, label }: { readonly text: string; readonly label: string }) {
  const rows = useSignal<readonly (readonly boolean[])[]>([])
  useEffect(() => {
    void import('qr').then(
      ({ default: encode }) => (rows.value = encode(text, 'raw')),
      // Without a network: the text beside it has the same content.
      () => undefined,
    )
  }, [text, rows])
  const side = rows.value.length
  if (side === 0) return null
  const path = rows.value
    .flatMap((row, y) => row.flatMap((dark, x) => (dark ? [`M${x} ${y}h1v1h-1z`] : [])))
    .join('')
  return (
    <svg class="qr" viewBox={`0 0 ${side} ${side}`} role="img" aria-label={label}>
      <rect width={side} height={side} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  )
}
