/** Detects the action that a pilgrim asks for, by keywords in four languages or by a button. */
import { BotAction } from '#shared/contracts/bot.ts'

/** What a text can ask for: an action, or help in an emergency, which has no button. */
export type Wish = BotAction | 'emergency'

const listed = (keywords: string): readonly string[] => keywords.split(',').map((word) => word.trim())

/**
 * Words of distress in Chinese (traditional and simplified), English and Japanese. The list is broad, because a false
 * alarm costs only one unnecessary answer.
 */
const DISTRESS = listed(`
  救命, 求救, 救我, 救人, 救援, 救護, 救护, 急救, 急診, 急诊, 緊急, 紧急, 受傷, 受伤, 流血, 骨折, 扭傷, 扭伤, 摔傷, 摔伤,
  跌倒, 摔倒, 車禍, 车祸, 昏倒, 暈倒, 晕倒, 昏迷, 休克, 中暑, 抽搐, 胸痛, 胸悶, 胸闷, 心臟病, 心脏病, 呼吸困難, 呼吸困难,
  喘不過氣, 喘不过气, 走失, 走丟, 走丢, 失蹤, 失踪, 迷路, 報警, 报警, 人不見, 人不见, 找不到人, 小孩不見, 小孩不见, 有人倒,
  sos, mayday, emergency, emergencies, ambulance, help me, rescue, injured, injury, injuries, hurt, bleeding, unconscious,
  collapsed, fainted, heart attack, chest pain, cannot breathe, can't breathe, heatstroke, heat stroke, broken leg,
  broken arm, broken ankle, accident, lost, went missing, gone missing, missing person, missing child, 119, 112, 110, 911,
  助けて, たすけて, 救急, 救助, 怪我, けが, ケガ, 迷子, 道に迷, 遭難, 事故, 出血, 倒れ, 意識, 熱中症, 行方不明, はぐれ,
  動けない, 息ができない`)

/** The first wish with a keyword in the text wins. Full-width letters are normalised first. */
const WORDS: readonly (readonly [Wish, readonly string[]])[] = [
  ['emergency', DISTRESS],
  [
    'data',
    listed(`刪除, 删除, 隱私, 隐私, 個資, 个资, 個人資料, 个人资料, 我的資料, 我的资料, 我的数据, privacy, personal data, my data, delete,
      erase, プライバシー, 個人情報, 私のデータ, 削除, 退会`),
  ],
  [
    'report',
    listed(`回報, 回报, 反馈, 反映, 問題, 问题, 建議, 建议, 意見, 意见, 故障, 壞了, 坏了, 當機, 死机, 卡住, 打不開, 打不开, 不能用,
      report, feedback, problem, suggestion, complaint, bug, not working, does not work, doesn't work, フィードバック, 報告,
      要望, 不具合, 動かない, 開かない`),
  ],
  ['checkin', listed('打卡, 報到, 报到, 簽到, 签到, check-in, check in, checkin, チェックイン')],
  ['survey', listed('問卷, 问卷, 調查, 调查, survey, questionnaire, アンケート')],
  ['carbon', listed('碳, carbon, co2, 炭素, カーボン, 環保, 环保')],
  ['card', listed('卡片, 成就卡, 分享卡, my card, card, カード')],
  [
    'level',
    listed(`等級, 等级, 境界, 里程, 公里, 修為, 修为, 紀錄, 記錄, 记录, 成就, 成績, 成绩, 排行, 排名, 名次, level, rank, ranking,
      leaderboard, progress, record, achievement, my walk, distance, レベル, 記録, 実績, ランキング, 順位, 距離`),
  ],
  [
    'map',
    listed(
      `地圖, 地图, 在哪, 哪裡, 哪里, 到哪, 鑾轎, 銮轿, 神轎, 神轿, map, where, palanquin, 地図, マップ, どこ, 神輿`,
    ),
  ],
  ['share', listed('分享, 推薦, 推荐, share, invite, シェア, 共有')],
  ['about', listed('關於, 关于, about, について, 概要')],
  [
    'help',
    listed(`幫助, 帮助, 說明, 说明, 怎麼, 怎么, 如何, 功能, 選單, 菜单, 教學, 教学, 指令, help, how, menu, feature, function,
      ヘルプ, 使い方, 機能, メニュー`),
  ],
]

/** @returns what a text asks for; null without a keyword */
export function wishOfText(text: string): Wish | null {
  const normalised = text.normalize('NFKC').replaceAll('’', "'").toLowerCase()
  for (const [action, words] of WORDS) if (words.some((word) => hasWord(normalised, word))) return action
  return null
}

/** Latin keywords match whole words. Other scripts match anywhere, because they are written without spaces. */
function hasWord(text: string, word: string): boolean {
  if (!/^[a-z0-9]/.test(word)) return text.includes(word)
  return new RegExp(`(^|[^a-z0-9])${word}s?($|[^a-z0-9])`).test(text)
}

export const postbackData = (action: BotAction): string => `action=${action}`

/** @returns the action of a button; null for an action that this release does not know */
export function actionOfPostback(data: string): BotAction | null {
  const parsed = BotAction.safeParse(new URLSearchParams(data).get('action'))
  return parsed.success ? parsed.data : null
}
