/** 主催者が印刷するポスター。The poster that an organiser prints. */
import type { PosterWords } from '../words.ts'

export const words: PosterWords = {
  join: 'スマートフォンで一緒に歩く',
  steps: ['カメラでコードを読み取る', '同意して名前を決める', '印を押してチェックイン'],
  walk: '参加してチェックイン',
  map: '地図で見る',
  emergency: (number) => `緊急電話：${number}`,
  organiser: (number) => `主催者：${number}`,
}
