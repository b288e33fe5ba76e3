/** Places along the way, in traditional Chinese. */
import type { PlacesWords } from '../words.ts'

export const words: PlacesWords = {
  title: '沿途設施',
  kinds: {
    water: '飲水',
    toilet: '廁所',
    'first-aid': '醫護站',
    food: '餐點',
    bed: '住宿',
    shuttle: '接駁車',
  },
  fromStart: (km) => `距起點 ${km} 公里`,
  next: '前方設施',
  ahead: (distance) => `前方 ${distance}`,
  away: (distance) => `直線距離 ${distance}`,
}
