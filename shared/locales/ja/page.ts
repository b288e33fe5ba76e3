import type { PageWords } from '../words.ts'

export const words: PageWords = {
  language: '言語',
  theme: '画面の色',
  themes: { auto: '自動', light: '明るい', dark: '夜間', sun: '日なた' },
  close: '閉じる',
  cancel: 'キャンセル',
  more: '開く',
  less: 'たたむ',
  notFound: { title: 'このアドレスにはページがありません。', map: '地図を見る', walk: 'アプリを開く' },
  settings: '設定',
  mapSource: '地図：台湾内政部オープンデータ',
  closer: '拡大',
  farther: '縮小',
  pair: (name, text) => `${name}：${text}`,
  aside: (text, aside) => `${text}（${aside}）`,
  levels: [
    '煉気香客',
    '築基香客',
    '金丹香客',
    '元嬰香客',
    '化神香客',
    '煉虚香客',
    '合体香客',
    '大乗香客',
    '飛昇香客',
  ],
}
