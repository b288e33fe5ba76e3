/** The action that a pilgrim asks for, by keywords of four languages or by a button. */
import { BotAction } from '#shared/contracts/bot.ts'

/** The first action with a keyword in the text wins. Full-width letters are normalised first. */
const WORDS: readonly (readonly [BotAction, readonly string[]])[] = [
  ['checkin', ['打卡', '報到', '报到', '簽到', '签到', 'check-in', 'check in', 'checkin', 'チェックイン']],
  ['survey', ['問卷', '问卷', '調查', '调查', 'survey', 'questionnaire', 'アンケート']],
  ['carbon', ['碳', 'carbon', 'co2', '炭素', 'カーボン', '環保', '环保']],
  ['card', ['卡片', '成就卡', '分享卡', '我的卡', 'my card', 'card', 'カード']],
  ['level', ['等級', '等级', '境界', '里程', '公里', 'level', 'rank', 'progress', 'レベル', '修為', '修为']],
  ['share', ['分享', '推薦', '推荐', 'share', 'invite', 'シェア', '共有']],
  ['about', ['關於', '关于', 'about', 'について', '概要']],
  ['help', ['幫助', '帮助', '說明', '说明', '怎麼', '怎么', 'help', 'how', 'ヘルプ', '使い方', '助けて']],
]

/** @returns the action that a text asks for; null without a keyword */
export function actionOfText(text: string): BotAction | null {
  const normalised = text.normalize('NFKC').toLowerCase()
  for (const [action, words] of WORDS) if (words.some((word) => hasWord(normalised, word))) return action
  return null
}

/** Latin keywords match whole words. Other scripts match anywhere, because they are written without spaces. */
function hasWord(text: string, word: string): boolean {
  if (!/^[a-z]/.test(word)) return text.includes(word)
  return new RegExp(`(^|[^a-z0-9])${word}s?($|[^a-z0-9])`).test(text)
}

export const postbackData = (action: BotAction): string => `action=${action}`

/** @returns the action of a button; null for an action that this release does not know */
export function actionOfPostback(data: string): BotAction | null {
  const parsed = BotAction.safeParse(new URLSearchParams(data).get('action'))
  return parsed.success ? parsed.data : null
}
