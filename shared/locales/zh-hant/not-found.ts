import type { NotFoundWords } from '../words.ts'
export { words as page } from './all-pages.ts'

export const words: NotFoundWords = {
  title: '這個網址沒有頁面。',
  map: '看地圖',
  walk: '開啟 App',
}
