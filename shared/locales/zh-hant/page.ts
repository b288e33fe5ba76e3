import type { PageWords } from '../words.ts'

export const words: PageWords = {
  language: '語言',
  theme: '畫面顏色',
  themes: { auto: '自動', light: '明亮', dark: '夜間', sun: '大太陽' },
  close: '關閉',
  cancel: '取消',
  more: '展開',
  less: '收合',
  notFound: { title: '這個網址沒有頁面。', map: '看地圖', walk: '開啟 App' },
  settings: '設定',
  mapSource: '底圖：內政部開放資料',
  closer: '放大',
  farther: '縮小',
  pair: (name, text) => `${name}：${text}`,
  aside: (text, aside) => `${text}（${aside}）`,
  levels: [
    '煉氣香客',
    '築基香客',
    '金丹香客',
    '元嬰香客',
    '化神香客',
    '煉虛香客',
    '合體香客',
    '大乘香客',
    '飛升香客',
  ],
}
