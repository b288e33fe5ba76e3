/** When the achievement card is unlocked (specification, "Achievement card"). */
export function achievementCard(pilgrim: {
  readonly checkins: number
  readonly surveyCompleted: boolean
  readonly phone: string | null
}): 'locked' | 'unlocked' {
  return pilgrim.checkins >= 3 && pilgrim.surveyCompleted && pilgrim.phone !== null ? 'unlocked' : 'locked'
}
