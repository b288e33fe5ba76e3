/** Symbols of buttons, as lines in 24 × 24 units. A button with only a symbol needs a label. */
const SYMBOLS = {
  closer: 'M12 5v14M5 12h14',
  farther: 'M5 12h14',
  procession: 'M6 21V4M6 5c4-2 7 2 12 0l-2 4 2 4c-5 2-8-2-12 0',
  route:
    'M4 20a2 2 0 1 0 4 0a2 2 0 1 0-4 0M8 20h6c6 0 6-7 0-7h-4c-6 0-6-7 0-7h6M16 6a2 2 0 1 0 4 0a2 2 0 1 0-4 0',
  position: 'M12 2v4M12 18v4M2 12h4M18 12h4M12 7a5 5 0 1 0 0 10a5 5 0 1 0 0-10',
  detailed: 'M12 4l9 5l-9 5l-9-5zM4 13l8 4.5l8-4.5M4 17l8 4.5l8-4.5',
  language: 'M12 3a9 9 0 1 0 0 18a9 9 0 1 0 0-18M3 12h18M12 3c-5 5-5 13 0 18M12 3c5 5 5 13 0 18',
} as const

export const Symbol = ({ of }: { readonly of: keyof typeof SYMBOLS }) => (
  <svg class="symbol" viewBox="0 0 24 24" aria-hidden="true">
    <path d={SYMBOLS[of]} />
  </svg>
)
