import { expect, test } from 'bun:test'
import { achievementCard } from '#shared/core/rules/levels.ts'

test.each([
  [3, true, '0912345678', 'unlocked'],
  [40, true, '0912345678', 'unlocked'],
  [2, true, '0912345678', 'locked'],
  [0, true, '0912345678', 'locked'],
  [3, false, '0912345678', 'locked'],
  [3, true, null, 'locked'],
  [2, false, null, 'locked'],
] as const)('%p check-ins, survey %p, phone %p: %s', (checkins, surveyCompleted, phone, card) => {
  expect(achievementCard({ checkins, surveyCompleted, phone })).toBe(card)
})
