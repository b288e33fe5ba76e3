/** Places along the way, in Japanese. */
import type { PlacesWords } from '../words.ts'

export const words: PlacesWords = {
  title: '沿道の施設',
  kinds: {
    water: '給水',
    toilet: 'トイレ',
    'first-aid': '救護所',
    food: '食事',
    bed: '宿泊',
    shuttle: 'シャトルバス',
  },
  fromStart: (km) => `出発点から${km}km`,
  next: 'この先の施設',
  ahead: (distance) => `${distance}先`,
  away: (distance) => `直線で${distance}`,
}
