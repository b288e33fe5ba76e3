import type { SurveyWords } from '../words.ts'

export const words: SurveyWords = {
  title: '問卷',
  intro: (questions) => `${questions} 個簡短的問題。每個回答都會立刻保存，可以隨時停下來再繼續。`,
  progress: (number, of) => `第 ${number} 題，共 ${of} 題`,
  next: '下一題',
  before: '上一題',
  send: '送出回答',
  replaces: '您用另一支手機回答過。這裡看不到那些回答；在這裡送出，會取代它們。',
  waits: '還沒有送出。回答保存在這支手機裡，有網路時會自動送出，不用再按。',
  change: '再改一改',
  sent: '謝謝您！回答已送達。',
  nothing: '請至少回答一題。',
  open: (number) => `還有 ${number} 題沒有回答，也可以直接送出。`,
  toOpen: '去回答',
  several: '可以選好幾個。',
  questions: {
    q1: { ask: '您參加過幾次進香？', answers: { first: '這是第一次', few: '2 到 4 次', often: '5 次以上' } },
    q2: {
      ask: '您和誰一起走？',
      answers: { alone: '自己', family: '家人', friends: '朋友', group: '宮廟或團體' },
    },
    q3: {
      ask: '您為什麼走？',
      answers: { faith: '信仰', vow: '還願', health: '健康', culture: '文化', company: '同伴' },
    },
    q4: {
      ask: '您的年齡？',
      answers: {
        '-17': '未滿 18 歲',
        '18-34': '18 到 34 歲',
        '35-54': '35 到 54 歲',
        '55-69': '55 到 69 歲',
        '70-': '70 歲以上',
      },
    },
    q5: {
      ask: '您怎麼來到起點？',
      answers: { foot: '步行', car: '汽車', scooter: '機車', bus: '公車', train: '火車', hsr: '高鐵' },
    },
    q6: {
      ask: '路上您睡在哪裡？',
      answers: {
        home: '家裡',
        temple: '宮廟或會館',
        hotel: '旅館',
        outside: '戶外',
        friends: '認識的人家裡',
      },
    },
    q7: {
      ask: '您在這裡是？',
      answers: { pilgrim: '香客', volunteer: '志工', resident: '當地居民', visitor: '訪客' },
    },
    q8: {
      ask: '您覺得安全嗎？',
      answers: { 5: '非常安全', 4: '安全', 3: '普通', 2: '不安全', 1: '非常不安全' },
    },
    q9: {
      ask: '您喜歡這個 App 嗎？',
      answers: { 5: '非常喜歡', 4: '喜歡', 3: '普通', 2: '不太喜歡', 1: '不喜歡' },
    },
    q10: { ask: '還有什麼想告訴我們？', answers: {} },
  },
}
