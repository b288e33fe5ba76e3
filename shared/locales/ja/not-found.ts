import type { NotFoundWords } from '../words.ts'
export { words as page } from './all-pages.ts'

export const words: NotFoundWords = {
  title: 'このアドレスにはページがありません。',
  map: '地図を見る',
  walk: 'アプリを開く',
}
