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
