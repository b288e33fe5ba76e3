/** Places along the way, in English: the pattern of the other languages. */
export const words = {
  title: 'Along the way',
  kinds: {
    water: 'Water',
    toilet: 'Toilet',
    'first-aid': 'First aid',
    food: 'Food',
    bed: 'Place to sleep',
    shuttle: 'Shuttle bus',
  },
  fromStart: (km: string) => `${km} km from the start`,
  next: 'Next along the way',
  ahead: (distance: string) => `${distance} ahead`,
  away: (distance: string) => `${distance} away in a straight line`,
}
