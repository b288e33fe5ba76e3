/** The survey's form: which answers may be chosen together, and which question is answered in own words. */

export const QUESTIONS = ['q1', 'q2', 'q3', 'q4', 'q5', 'q6', 'q7', 'q8', 'q9', 'q10'] as const
export type Question = (typeof QUESTIONS)[number]

/** Questions with several answers. */
export const SEVERAL: ReadonlySet<Question> = new Set(['q3', 'q5', 'q6'])
/** Questions that are answered in own words. */
export const IN_WORDS: ReadonlySet<Question> = new Set(['q10'])

/** A chosen value, several, or a text. */
type Answer = string | readonly string[]
export type Draft = Readonly<Partial<Record<Question, Answer>>>

/** The draft after a value was touched: chosen, or taken back. An empty answer is none. */
export function answered(draft: Draft, question: Question, value: string): Draft {
  const { [question]: before, ...others } = draft
  if (IN_WORDS.has(question)) return value.trim() === '' ? others : { ...others, [question]: value }
  if (!SEVERAL.has(question)) return before === value ? others : { ...others, [question]: value }
  const chosen = Array.isArray(before) ? (before as readonly string[]) : []
  const next = chosen.includes(value) ? chosen.filter((one) => one !== value) : [...chosen, value]
  return next.length === 0 ? others : { ...others, [question]: next }
}

export const isChosen = (draft: Draft, question: Question, value: string): boolean => {
  const answer = draft[question]
  return Array.isArray(answer) ? answer.includes(value) : answer === value
}
