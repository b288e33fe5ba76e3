import type { SurveyWords } from '../walk-words.ts'

export const survey: SurveyWords = {
  title: '问卷',
  intro: '十个简短的问题。每个回答都会立刻保存，可以随时停下来再继续。',
  progress: (number, of) => `第 ${number} 题，共 ${of} 题`,
  next: '下一题',
  before: '上一题',
  send: '送出回答',
  kept: '您的回答保存在这部手机里。',
  replaces: '您用另一部手机回答过。这里看不到那些回答；在这里发送，会取代它们。',
  waits: '还没有发送。回答保存在这部手机里，有网络时会自动发送，不用再点。',
  change: '再改一改',
  sent: '谢谢您！回答已送达。',
  nothing: '请至少回答一题。',
  open: (number) => `还有 ${number} 题没有回答，也可以直接发送。`,
  toOpen: '去回答',
  several: '可以选好几个。',
  questions: {
    q1: { ask: '您参加过几次进香？', answers: { first: '这是第一次', few: '2 到 4 次', often: '5 次以上' } },
    q2: {
      ask: '您和谁一起走？',
      answers: { alone: '自己', family: '家人', friends: '朋友', group: '宫庙或团体' },
    },
    q3: {
      ask: '您为什么走？',
      answers: { faith: '信仰', vow: '还愿', health: '健康', culture: '文化', company: '同伴' },
    },
    q4: {
      ask: '您的年龄？',
      answers: {
        '-17': '未满 18 岁',
        '18-34': '18 到 34 岁',
        '35-54': '35 到 54 岁',
        '55-69': '55 到 69 岁',
        '70-': '70 岁以上',
      },
    },
    q5: {
      ask: '您怎么来到起点？',
      answers: { foot: '步行', car: '汽车', scooter: '摩托车', bus: '公交车', train: '火车', hsr: '高铁' },
    },
    q6: {
      ask: '路上您睡在哪里？',
      answers: {
        home: '家里',
        temple: '宫庙或会馆',
        hotel: '旅馆',
        outside: '户外',
        friends: '认识的人家里',
      },
    },
    q7: {
      ask: '您在这里是？',
      answers: { pilgrim: '香客', volunteer: '志愿者', resident: '当地居民', visitor: '访客' },
    },
    q8: {
      ask: '您觉得安全吗？',
      answers: { 5: '非常安全', 4: '安全', 3: '普通', 2: '不安全', 1: '非常不安全' },
    },
    q9: {
      ask: '您喜欢这个 App 吗？',
      answers: { 5: '非常喜欢', 4: '喜欢', 3: '普通', 2: '不太喜欢', 1: '不喜欢' },
    },
    q10: { ask: '还有什么想告诉我们？', answers: {} },
  },
}
