/** Measures contenders in turns, so that other load on the machine affects all of them alike. */

/** The size of a run: `full` for the table, `quick` for a short run, `smoke` for the tests. */
export interface Scale {
  readonly name: 'full' | 'quick' | 'smoke'
  readonly rounds: number
  /** Seconds of load per contender and round. */
  readonly seconds: number
  /** The share of a row's counts (points, pilgrims, cards) that is used. */
  readonly share: number
}

export const SCALES: Record<Scale['name'], Scale> = {
  // Short turns: what a neighbour of the machine does falls on several contenders.
  full: { name: 'full', rounds: 15, seconds: 1, share: 1 },
  quick: { name: 'quick', rounds: 3, seconds: 1, share: 0.1 },
  smoke: { name: 'smoke', rounds: 1, seconds: 0.2, share: 0.001 },
}

/** The load generator among the processes of a contender. */
export const GENERATOR = 'wrk'

/** CPU microseconds per request, by process. */
export type Cpu = Readonly<Record<string, number>>

/** A figure and its CPU cost. */
export interface Sample {
  readonly figure: number
  readonly cpu: Cpu
}

export interface Contender {
  readonly name: string
  /** The service, an upper limit, or an alternative. */
  readonly role: 'ours' | 'limit' | 'peer'
  /** Measures one figure, in the row's unit. @throws if the measured code did not do its work */
  measure(): Promise<number | Sample>
}

/**
 * A goal of the first contender: its figure divided by that of `of`, or the figure itself if `of` is null.
 */
export interface Goal {
  readonly of: string | null
  /** Compares the CPU per request of these processes instead of the figure. */
  readonly cpu?: { readonly ours: readonly string[]; readonly other?: readonly string[] }
  readonly atLeast?: number
  readonly atMost?: number
}

export interface Opened {
  readonly contenders: readonly Contender[]
  readonly goals: readonly Goal[]
  close(): Promise<void>
}

/** A line of the table. */
export interface Row {
  readonly id: string
  readonly title: string
  readonly unit: string
  /** Whether it needs the packages of `peers/install.ts`. */
  readonly peers?: true
  /** Runs once before the measurement, so that code is compiled and pilgrims exist. */
  readonly warm?: true
  /** Excluded from the tests: too slow at any size, or the same code as another row. */
  readonly untested?: boolean
  /** Fewer rounds, if one takes long. */
  readonly rounds?: number
  open(scale: Scale): Promise<Opened>
}

export interface Figure {
  readonly name: string
  readonly role: Contender['role']
  /** One per round. */
  readonly samples: readonly number[]
  /** By process, one a round; nothing where it was not measured. */
  readonly cpu?: Readonly<Record<string, readonly number[]>>
}

export interface Judged extends Goal {
  /** One per round. */
  readonly ratios: readonly number[]
  readonly verdict: Verdict
}

/** A goal is not decided where the spread of the rounds is larger than the distance of their median from the goal. */
export type Verdict = 'met' | 'missed' | 'not decided'

export interface Measured {
  readonly id: string
  readonly title: string
  readonly unit: string
  readonly figures: readonly Figure[]
  readonly goals: readonly Judged[]
}

export function median(samples: readonly number[]): number {
  const sorted = [...samples].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

/** Median distance from the median. */
export const spread = (samples: readonly number[]): number => {
  const centre = median(samples)
  return median(samples.map((sample) => Math.abs(sample - centre)))
}

function judge(goal: Goal, contenders: readonly Contender[], samples: readonly Sample[][]): Judged {
  const { of, cpu, atLeast = -Infinity, atMost = Infinity } = goal
  const other = contenders.findIndex(({ name }) => name === of)
  if (samples[0] === undefined || (of !== null && other === -1)) throw new Error(`a goal of nothing: ${of}`)
  const valueOf = (sample: Sample, processes: readonly string[] | undefined): number =>
    processes === undefined ? sample.figure : processes.reduce((sum, name) => sum + sample.cpu[name]!, 0)
  const ratios = samples[0].map((sample, i) => {
    const beside = other === -1 ? 1 : valueOf(samples[other]![i]!, cpu?.other)
    return valueOf(sample, cpu?.ours) / beside
  })
  return { ...goal, atLeast, atMost, ratios, verdict: verdictOf(ratios, atLeast, atMost) }
}

function verdictOf(ratios: readonly number[], atLeast: number, atMost: number): Verdict {
  const ratio = median(ratios)
  if (Math.min(Math.abs(ratio - atLeast), Math.abs(ratio - atMost)) < spread(ratios)) return 'not decided'
  return ratio >= atLeast && ratio <= atMost ? 'met' : 'missed'
}

const sampleOf = (measured: number | Sample): Sample =>
  typeof measured === 'number' ? { figure: measured, cpu: {} } : measured

function figureOf(name: string, role: Contender['role'], samples: readonly Sample[]): Figure {
  const processes = Object.keys(samples[0]?.cpu ?? {})
  const cpu = Object.fromEntries(
    processes.map((process) => [process, samples.map((sample) => sample.cpu[process]!)]),
  )
  return { name, role, samples: samples.map(({ figure }) => figure), ...(processes.length > 0 && { cpu }) }
}

/** CPU a request of all processes of the contender, one a round; null where it was not measured. */
function cpuOf({ cpu = {} }: Figure): number[] | null {
  const own = Object.entries(cpu).flatMap(([process, samples]) => (process === GENERATOR ? [] : [samples]))
  return own[0]?.map((_, round) => own.reduce((sum, samples) => sum + samples[round]!, 0)) ?? null
}

/** CPU a request beside that of another contender, one a round; null where one of them was not measured. */
export function cpuRatios(ours: Figure, other: Figure): number[] | null {
  const [own, beside] = [cpuOf(ours), cpuOf(other)]
  return own && beside && own.map((cpu, round) => cpu / beside[round]!)
}

/** Seconds of load before the measurement. */
const WARM_S = 3

/** Measures a row: every contender once per round, A B C A B C …. */
export async function measureRow(row: Row, scale: Scale): Promise<Measured> {
  const { contenders, goals, close } = await row.open(scale)
  try {
    const samples = contenders.map((): Sample[] => [])
    if (row.warm === true && scale.name !== 'smoke')
      for (let seconds = 0; seconds < WARM_S; seconds += scale.seconds)
        for (const contender of contenders) await contender.measure()
    const rounds = Math.min(scale.rounds, row.rounds ?? scale.rounds)
    for (let round = 0; round < rounds; round++)
      for (const [i, contender] of contenders.entries()) samples[i]!.push(sampleOf(await contender.measure()))
    const figures = contenders.map(({ name, role }, i) => figureOf(name, role, samples[i]!))
    return {
      id: row.id,
      title: row.title,
      unit: row.unit,
      figures,
      goals: goals.map((goal) => judge(goal, contenders, samples)),
    }
  } finally {
    await close()
  }
}
