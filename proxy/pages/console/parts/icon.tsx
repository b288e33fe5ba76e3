/** Icons of the console: strokes on a 24 by 24 grid. */
import type { View } from '../router.ts'

type IconName = View | 'search' | 'leave' | 'settings' | 'picture'

const PATHS: Readonly<Record<IconName, string>> = {
  now: 'M3 12h4l3-8 4 16 3-8h4',
  people:
    'M9 11a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM2 21c0-4 3-7 7-7s7 3 7 7M16 3.5a4 4 0 0 1 0 7M18 14.5c2.500 1 4 3.500 4 6.500',
  reports: 'M4 20V10M10 20V4M16 20v-7M22 20H2',
  feedback: 'M4 4h16v12H9l-5 4zM8 8h8M8 12h5',
  messages: 'M3 6h18v12H3zM3 7l9 7 9-7',
  lifecycle: 'M12 3a9 9 0 1 0 9 9M12 7v5l3 3M21 3v5h-5',
  system: 'M3 11l9-8 9 8M5 10v10h14V10M10 20v-6h4v6',
  search: 'M10.500 17a6.500 6.500 0 1 0 0-13 6.500 6.500 0 0 0 0 13zM15.500 15.500L21 21',
  leave: 'M10 4H4v16h6M15 8l4 4-4 4M19 12H9',
  picture: 'M3 5h18v14H3zM3 17l6-6 5 5 3-3 4 4M16 9v.5',
  settings:
    'M12 15.500a3.500 3.500 0 1 0 0-7 3.500 3.500 0 0 0 0 7zM12 2v3M12 19v3M2 12h3M19 12h3M5 5l2 2M17 17l2 2M5 19l2-2M17 7l2-2',
}

export const Icon = ({ name }: { readonly name: IconName }) => (
  <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
    <path d={PATHS[name]} />
  </svg>
)
