/** 主辦單位列印的海報。The poster that an organiser prints. */
import type { PosterWords } from '../words.ts'

export const words: PosterWords = {
  join: '用手機一起走',
  steps: ['用相機掃描條碼', '同意並取個名字', '按下印章打卡'],
  walk: '加入並打卡',
  map: '看地圖',
  emergency: (number) => `緊急電話：${number}`,
  organiser: (number) => `主辦單位：${number}`,
}
