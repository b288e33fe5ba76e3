/** Which questions of a survey, and how many answers of each, have room on the report's page. */
import type { Bar } from '../../../design/chart.tsx'

export interface Question {
  readonly name: string
  /** Null where this release does not know the question. */
  readonly ask: string | null
  readonly bars: readonly Bar[]
  readonly answered: number
  /** Different answers beside those of the bars. */
  readonly others: number
}

interface Fitted {
  readonly columns: readonly (readonly Question[])[]
  readonly left: number
}

/** Minimum number of answers per question. Rare answers are left out before a whole question is. */
const LEAST_BARS = 3
/** Between two questions, in lines. */
const GAP = 0.5

const cut = (question: Question, most: number): Question => ({
  ...question,
  bars: question.bars.slice(0, most),
  others: question.others + Math.max(0, question.bars.length - most),
})

const linesOf = ({ bars, others }: Question): number => 1 + bars.length + (others > 0 ? 1 : 0) + GAP

/**
 * Fills columns from the top, in the order of the questions. Answers are cut evenly until all questions fit; what does
 * not fit with the fewest answers is left out.
 * @param lines of each column
 */
export function fitQuestions(questions: readonly Question[], columns: number, lines: number): Fitted {
  const most = Math.max(LEAST_BARS, ...questions.map(({ bars }) => bars.length))
  for (let bars = most; bars > LEAST_BARS; bars--) {
    const fitted = pack(questions, bars, columns, lines)
    if (fitted.left === 0) return fitted
  }
  return pack(questions, LEAST_BARS, columns, lines)
}

function pack(questions: readonly Question[], bars: number, columns: number, lines: number): Fitted {
  const filled: Question[][] = [[]]
  let used = 0
  let placed = 0
  for (const question of questions.map((whole) => cut(whole, bars))) {
    const needed = linesOf(question)
    if (used + needed > lines && used > 0) {
      if (filled.length === columns) break
      filled.push([])
      used = 0
    }
    filled.at(-1)!.push(question)
    used += needed
    placed++
  }
  return { columns: filled, left: questions.length - placed }
}
