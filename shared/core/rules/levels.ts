/** The nine levels: the one table and function used by profile, card, bot and console. */
import type { Language } from '#shared/contracts/bot.ts'

export interface Level {
  readonly level: number
  readonly zh: string
  readonly en: string
  readonly minKm: number
  readonly minCheckins: number
  readonly icon: string
}

const row = (
  level: number,
  zh: string,
  en: string,
  minKm: number,
  minCheckins: number,
  icon: string,
): Level => ({
  level,
  zh,
  en,
  minKm,
  minCheckins,
  icon,
})

/** Specification, "Level table". */
export const LEVELS: readonly Level[] = [
  row(1, '煉氣香客', 'Qi Refining Pilgrim', 0, 1, '🔥'),
  row(2, '築基香客', 'Foundation Pilgrim', 15, 5, '🧱'),
  row(3, '金丹香客', 'Golden Core Pilgrim', 45, 10, '💛'),
  row(4, '元嬰香客', 'Nascent Soul Pilgrim', 90, 15, '👶'),
  row(5, '化神香客', 'Spirit Pilgrim', 135, 20, '✨'),
  row(6, '煉虛香客', 'Void Pilgrim', 180, 25, '🌀'),
  row(7, '合體香客', 'Unity Pilgrim', 225, 30, '🤝'),
  row(8, '大乘香客', 'Mahayana Pilgrim', 270, 35, '🏆'),
  row(9, '飛升香客', 'Ascended Pilgrim', 300, 40, '🚀'),
]

/**
 * The highest level whose distance and check-ins are both reached; level 1 below one check-in.
 * Takes exact millimetres: 14.999 km, shown as 14.99, is not yet level 2.
 */
export function levelOf(distanceMm: number, checkins: number): Level {
  for (let i = LEVELS.length - 1; i > 0; i--) {
    const level = LEVELS[i]!
    if (distanceMm >= level.minKm * 1e6 && checkins >= level.minCheckins) return level
  }
  return LEVELS[0]!
}

/** What the next level still needs; `null` at the top. Kilometres are rounded up to 0.01, so 0 means reached. */
export function nextLevel(
  distanceMm: number,
  checkins: number,
): { level: number; km_needed: number; checkins_needed: number } | null {
  const next = LEVELS[levelOf(distanceMm, checkins).level]
  if (next === undefined) return null
  return {
    level: next.level,
    km_needed: Math.ceil(Math.max(0, next.minKm * 1e6 - distanceMm) / 1e4) / 100,
    checkins_needed: Math.max(0, next.minCheckins - checkins),
  }
}

/**
 * The names of all levels for a reader: in their language, else in the other Chinese for readers of Chinese, else in the
 * event's own language, else the default.
 * @param own the event's names, level 1 first; null: it has none
 * @param defaults in the reader's language, level 1 first
 */
export const levelNames = (
  own: readonly Partial<Readonly<Record<Language, string | undefined>>>[] | null,
  defaults: readonly string[],
  reader: Language,
  eventLanguage: Language,
): readonly string[] =>
  defaults.map((fallback, i) => {
    const names = own?.[i]
    const chinese = reader.startsWith('zh') ? (names?.['zh-Hant'] ?? names?.['zh-Hans']) : undefined
    return names?.[reader] ?? chinese ?? names?.[eventLanguage] ?? fallback
  })

/** Check-ins for the achievement card (specification, "Achievement card"). */
export const CARD_CHECKINS = 3

/** When the achievement card is unlocked (specification, "Achievement card"). */
export function achievementCard(pilgrim: {
  readonly checkins: number
  readonly surveyCompleted: boolean
  readonly phone: string | null
}): 'locked' | 'unlocked' {
  return pilgrim.checkins >= CARD_CHECKINS && pilgrim.surveyCompleted && pilgrim.phone !== null
    ? 'unlocked'
    : 'locked'
}
