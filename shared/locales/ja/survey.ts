import type { SurveyWords } from '../words.ts'

export const words: SurveyWords = {
  title: 'アンケート',
  intro: (questions) =>
    `短い質問が ${questions} 問あります。答えはすぐ保存します。いつでもやめて、また続けられます。`,
  progress: (number, of) => `${of} 問中 ${number} 問目`,
  next: '次へ',
  before: '前へ',
  send: '答えを送る',
  replaces: '別のスマホで回答済みです。その答えはここに出ません。ここで送ると、新しい答えに置き換わります。',
  waits: 'まだ送っていません。このスマホに保存し、電波が入ると自動で送ります。もう一度押す必要はありません。',
  change: '答えを直す',
  sent: 'ありがとうございます。答えが届きました。',
  nothing: '一つは答えてください。',
  open: (number) => `まだ答えていない質問が ${number} 問あります。このまま送ることもできます。`,
  toOpen: '答える',
  several: 'いくつでも選べます。',
  questions: {
    q1: {
      ask: 'この巡礼は何回目ですか。',
      answers: { first: '初めて', few: '2 から 4 回', often: '5 回以上' },
    },
    q2: {
      ask: 'だれと歩きますか。',
      answers: { alone: '一人', family: '家族', friends: '友人', group: '廟や団体' },
    },
    q3: {
      ask: 'なぜ歩きますか。',
      answers: { faith: '信仰', vow: '願ほどき', health: '健康', culture: '文化', company: '仲間' },
    },
    q4: {
      ask: '年齢は。',
      answers: {
        '-17': '18 歳未満',
        '18-34': '18 から 34 歳',
        '35-54': '35 から 54 歳',
        '55-69': '55 から 69 歳',
        '70-': '70 歳以上',
      },
    },
    q5: {
      ask: '出発点までの交通は。',
      answers: {
        foot: '徒歩',
        car: '車',
        scooter: 'スクーター',
        bus: 'バス',
        train: '列車',
        hsr: '高速鉄道',
      },
    },
    q6: {
      ask: '道中どこで寝ますか。',
      answers: { home: '自宅', temple: '廟や会館', hotel: 'ホテル', outside: '屋外', friends: '知人の家' },
    },
    q7: {
      ask: 'あなたは。',
      answers: { pilgrim: '巡礼者', volunteer: 'ボランティア', resident: '地元の人', visitor: '訪問者' },
    },
    q8: {
      ask: '安全だと感じましたか。',
      answers: { 5: 'とても安全', 4: '安全', 3: 'ふつう', 2: '不安', 1: 'とても不安' },
    },
    q9: {
      ask: 'このアプリはいかがですか。',
      answers: { 5: 'とても良い', 4: '良い', 3: 'ふつう', 2: 'あまり良くない', 1: '良くない' },
    },
    q10: { ask: 'ほかに伝えたいことは。', answers: {} },
  },
}
