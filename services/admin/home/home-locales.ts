/** The texts of the event's page. */
import type { ActivityStatus } from '#shared/contracts/fields.ts'
import type { Language } from '#shared/contracts/bot.ts'

/** The event's status; `awaited` before it begins, `unknown` when no store answers. */
export type CheckInPosition = ActivityStatus | 'awaited' | 'unknown'

export interface HomeWords {
  /** The language's own name. */
  readonly language: string
  readonly standing: Readonly<Record<CheckInPosition, string>>
  /** Shown when the operators have set no message. */
  readonly sentence: Readonly<Record<CheckInPosition, string>>
  readonly begins: (at: string) => string
  readonly message: string
  readonly about: string
  readonly checkin: string
  readonly survey: string
  /** Shown while the check-in page or the survey page has no address. */
  readonly looking: string
}

export const HOME_WORDS: Readonly<Record<Language, HomeWords>> = {
  'zh-Hant': {
    language: '繁體中文',
    standing: {
      active: '活動進行中',
      paused: '活動暫停中',
      ended: '活動已結束',
      awaited: '即將開始',
      unknown: '稍後再看',
    },
    sentence: {
      active: '一路平安，步步歡喜。',
      paused: '目前暫停接收打卡與軌跡，恢復時間將另行公告。',
      ended: '感謝每一位香客同行，我們下次再見。',
      awaited: '歡迎同行，我們路上見。',
      unknown: '現在無法得知活動狀態，請過一會兒再看看。',
    },
    begins: (at) => `開始時間：${at}`,
    message: '主辦單位的話',
    about: '這裡記錄每位香客走過的路：里程、打卡、修行等級與碳足跡。',
    checkin: '打卡',
    survey: '問卷',
    looking: '在找打卡或問卷頁面嗎？準備好之後，就會在主辦單位的 LINE 帳號公布。',
  },
  'zh-Hans': {
    language: '简体中文',
    standing: {
      active: '活动进行中',
      paused: '活动暂停中',
      ended: '活动已结束',
      awaited: '即将开始',
      unknown: '稍后再看',
    },
    sentence: {
      active: '一路平安，步步欢喜。',
      paused: '目前暂停接收打卡与轨迹，恢复时间将另行公告。',
      ended: '感谢每一位香客同行，我们下次再见。',
      awaited: '欢迎同行，我们路上见。',
      unknown: '现在无法得知活动状态，请过一会儿再看看。',
    },
    begins: (at) => `开始时间：${at}`,
    message: '主办单位的话',
    about: '这里记录每位香客走过的路：里程、打卡、修行等级与碳足迹。',
    checkin: '打卡',
    survey: '问卷',
    looking: '在找打卡或问卷页面吗？准备好之后，就会在主办单位的 LINE 账号公布。',
  },
  en: {
    language: 'English',
    standing: {
      active: 'Under way',
      paused: 'Paused',
      ended: 'Ended',
      awaited: 'Soon',
      unknown: 'Please try again',
    },
    sentence: {
      active: 'We wish everyone who walks a safe journey.',
      paused: 'Check-ins and tracks are not accepted for now. More information will follow.',
      ended: 'Thank you to everyone who walked with us. Until next time.',
      awaited: 'You are welcome to walk with us.',
      unknown: 'The status of the event is not available right now. Please try again in a moment.',
    },
    begins: (at) => `Begins on ${at}`,
    message: 'From the organisers',
    about: 'We record the journey of each pilgrim: distance, check-ins, level and carbon footprint.',
    checkin: 'Check in',
    survey: 'Survey',
    looking:
      'Are you looking for the check-in or the survey? The organisers will announce them on their LINE account as soon as they are ready.',
  },
  ja: {
    language: '日本語',
    standing: {
      active: '開催中',
      paused: '一時停止中',
      ended: '終了しました',
      awaited: 'まもなく開始',
      unknown: '後ほどご確認ください',
    },
    sentence: {
      active: '道中のご無事をお祈りします。',
      paused: '現在、チェックインと軌跡の受付を停止しています。再開は改めてお知らせします。',
      ended: '一緒に歩いてくださった皆さま、ありがとうございました。',
      awaited: 'ご参加をお待ちしています。',
      unknown: 'ただいま開催状況を確認できません。しばらくしてからもう一度ご覧ください。',
    },
    begins: (at) => `開始：${at}`,
    message: '主催者より',
    about: '巡礼者一人ひとりの道のりを記録します：距離、チェックイン、レベル、CO2。',
    checkin: 'チェックイン',
    survey: 'アンケート',
    looking:
      'チェックインやアンケートのページをお探しですか？準備ができ次第、主催者のLINEアカウントでお知らせします。',
  },
}
