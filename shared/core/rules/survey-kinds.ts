/** Kind of answer for each question of the default survey. */
export const DEFAULT_KINDS = {
  q1: 'choice',
  q2: 'choice',
  q3: 'several',
  q4: 'choice',
  q5: 'several',
  q6: 'several',
  q7: 'choice',
  q8: 'choice',
  q9: 'choice',
  q10: 'text',
} as const
