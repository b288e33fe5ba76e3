/** Names and texts of the demo's people. All are fictional; any resemblance is coincidental. */

export const NAMES: Readonly<
  Record<string, { readonly family: readonly string[]; readonly given: readonly string[] }>
> &
  Record<'zh-TW', { readonly family: readonly string[]; readonly given: readonly string[] }> = {
  'zh-TW': {
    family: '陳林黃張李王吳劉蔡楊許鄭謝郭洪曾邱廖賴徐周葉蘇莊呂江何蕭羅高'.split(''),
    given: [
      '淑芬',
      '志明',
      '雅婷',
      '家豪',
      '美玲',
      '俊傑',
      '怡君',
      '冠宇',
      '秀英',
      '建宏',
      '佳蓉',
      '文雄',
    ].concat([
      '麗華',
      '宗翰',
      '欣怡',
      '金龍',
      '阿好',
      '承恩',
      '詩涵',
      '進財',
      '玉蘭',
      '子晴',
      '國華',
      '品妤',
    ]),
  },
  'zh-CN': { family: '陈林黄张李王吴刘'.split(''), given: ['伟', '芳', '秀兰', '建国', '小红', '志强'] },
  ja: { family: ['佐藤', '鈴木', '高橋', '田中', '山本'], given: ['さくら', '健太', '美咲', '大輔', '陽子'] },
  en: { family: ['Miller', 'Brown', 'Wilson', 'Evans'], given: ['Emma', 'Jack', 'Grace', 'Tom', 'Hannah'] },
}

/** Reports of pilgrims: category of the pilgrims' app, and description. */
export const FEEDBACK: readonly (readonly [category: string, description: string])[] = [
  ['app', '打卡後畫面停住了，重新整理才看到。'],
  ['app', '字太小，太陽下看不清楚。'],
  ['app', '離線的時候里程沒有動，連上網路後就正常了。'],
  ['app', '過橋的時候定位跳到河裡。'],
  ['app', 'The track shows a straight line where my phone had no signal.'],
  ['service', '飲水站在哪裡？地圖上可以標示嗎？'],
  ['service', '鹿港的補給站很棒，謝謝志工！'],
  ['safety', '這段路沒有路燈，請提醒大家穿反光背心。'],
  ['safety', '機車一直從隊伍中間鑽過去，很危險。'],
  ['service', '流動廁所排隊超過半小時。'],
  ['other', '歩いている間もレベルを見られてうれしいです。'],
  ['other', '希望明年可以看到家人走到哪裡。'],
]

/** Messages to the bot. */
export const QUESTIONS: Readonly<Record<string, readonly string[]>> & Record<'zh-TW', readonly string[]> = {
  'zh-TW': ['我的等級', '碳足跡', '打卡', '媽祖現在到哪裡？', '謝謝'],
  'zh-CN': ['我的等级', '打卡', '帮助'],
  ja: ['レベル', 'ヘルプ'],
  en: ['my level', 'carbon', 'help'],
}

/** Survey answers: the values that the pilgrims' app sends for each question. */
export const SURVEY = {
  q1: ['first', 'few', 'often'],
  q2: ['alone', 'family', 'friends', 'group'],
  q3: ['faith', 'vow', 'health', 'culture', 'company'],
  q4: ['-17', '18-34', '35-54', '55-69', '70-'],
  q5: ['foot', 'car', 'scooter', 'bus', 'train', 'hsr'],
  q6: ['home', 'temple', 'hotel', 'outside', 'friends'],
  q7: ['pilgrim', 'volunteer', 'resident', 'visitor'],
  q8: ['5', '4', '3', '2', '1'],
  q9: ['5', '4', '3', '2', '1'],
} as const

/** Names that people give to their tracker apps. */
export const TRACKERS = ['Traccar', 'OwnTracks', 'GPSLogger', '舊手機']

export const SUGGESTIONS = [
  '一切都好',
  '多一點飲水站',
  '謝謝沿路的信徒',
  '希望有英文說明',
  '廁所不夠',
  '明年再來',
]
