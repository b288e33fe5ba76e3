/** Icons of places along the way, as one drawing for canvas and lists, in 24 × 24 units. Fill them by `evenodd`. */
import type { PlaceKind } from '#shared/contracts/event-settings.ts'

export const PLACE_ICONS: Readonly<Record<PlaceKind, string>> = {
  // A drop.
  water: 'M12 1c4 6 7 9 7 13.500a7 7 0 0 1-14 0C5 10 8 7 12 1z',
  // Two people.
  toilet:
    'M7 2a2.300 2.300 0 1 1 0 4.600a2.300 2.300 0 1 1 0-4.600zM4 8h6v7H9v7H5v-7H4zM17 2a2.300 2.300 0 1 1 0 4.600a2.300 2.300 0 1 1 0-4.600zM15.500 8h3L21 16h-2v6h-4v-6h-2z',
  // A cross.
  'first-aid': 'M9 2h6v7h7v6h-7v7H9v-7H2V9h7z',
  // Fork and knife.
  food: 'M4 1h1.500v6h1.200V1h1.600v6h1.200V1H11v8c0 1.500-.800 2.500-2 3v11H6V12c-1.200-.500-2-1.500-2-3zM15 1c3 1 5 5 5 11h-2.500v11H15z',
  // A bed with a head on its pillow.
  bed: 'M1 4h2.500v9H23v8h-2.500v-3h-17v3H1zM7 6.500a2.500 2.500 0 1 1 0 5a2.500 2.500 0 1 1 0-5zM11 7h8a4 4 0 0 1 4 4v.500H11z',
  // A bus from the front.
  shuttle:
    'M5 2h14a2 2 0 0 1 2 2v14a2 2 0 0 1-1 1.700V22h-3v-2H7v2H4v-2.300A2 2 0 0 1 3 18V4a2 2 0 0 1 2-2zM5.500 5v6h13V5zM7 13.500a1.700 1.700 0 1 0 0 3.400a1.700 1.700 0 1 0 0-3.400zM17 13.500a1.700 1.700 0 1 0 0 3.400a1.700 1.700 0 1 0 0-3.400z',
}
