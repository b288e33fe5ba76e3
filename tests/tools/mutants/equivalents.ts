/** Equivalent mutants, which change no observable behaviour, each with the reason. */
import type { Mutant } from './mutations.ts'

interface Equivalent extends Pick<Mutant, 'file' | 'original' | 'replacement'> {
  /** Set if the same change elsewhere in the file is not equivalent. */
  readonly code?: string
  readonly why: string
}

const SENT_TIME = 'shared/core/rules/sent-time.ts'
const GENERAL_PATH = 'the general path reads the same values as the fast path'

export const EQUIVALENTS: readonly Equivalent[] = [
  {
    file: SENT_TIME,
    original: '10 * value.charCodeAt(at) + value.charCodeAt(at + 1) - 528',
    replacement: '((10 * value.charCodeAt(at) + value.charCodeAt(at + 1)) + (528))',
    why: `every month is above 12 then; ${GENERAL_PATH}`,
  },
  ...[
    ['month < 1', '((month) <= (1))'],
    ['month > 12', '((month) >= (12))'],
    ['day < 1', '((day) <= (1))'],
    ['day > 28', '((day) >= (28))'],
    ['hour > 23', '((hour) >= (23))'],
    ['minute > 59', '((minute) >= (59))'],
    ['second > 59', '((second) >= (59))'],
    ['year < 1970', '((year) <= (1970))'],
  ].map(([original, replacement]) => ({
    file: SENT_TIME,
    original: original!,
    replacement: replacement!,
    why: GENERAL_PATH,
  })),
  ...[
    ['month < 1 ||', '1', '2'],
    ['day < 1 ||', '1', '2'],
    ['year < 1970 ||', '1970', '3940'],
  ].map(([code, original, replacement]) => ({
    file: SENT_TIME,
    code: code!,
    original: original!,
    replacement: replacement!,
    why: GENERAL_PATH,
  })),
  {
    file: 'shared/points/ledger/counters.ts',
    code: 'let complained = false',
    original: 'false',
    replacement: 'true',
    why: 'it only affects a log line',
  },
  {
    file: 'shared/core/rules/calendar.ts',
    original: 'known.size >= MEMORY',
    replacement: '((known.size) < (MEMORY))',
    why: 'a forgotten value is computed again; only time is lost',
  },
  {
    file: SENT_TIME,
    original: 'written !== null',
    replacement: 'false',
    why: GENERAL_PATH,
  },
  {
    file: 'shared/core/map/cell-counts.ts',
    original: 'bit < 8',
    replacement: '((bit) <= (8))',
    why: 'a byte has no ninth bit',
  },
  {
    file: 'shared/core/map/front-and-tail.ts',
    original: 'i < crowd.length',
    replacement: '((i) <= (crowd.length))',
    why: 'writing behind the end of a typed array has no effect',
  },
  {
    file: 'shared/core/rules/calendar.ts',
    original: 'value === undefined',
    replacement: 'true',
    why: 'a known value is computed again; only time is lost',
  },
  {
    file: 'shared/core/rules/calendar.ts',
    original: 'known.size >= MEMORY',
    replacement: 'false',
    why: 'more values are remembered; only memory is lost',
  },
  {
    file: 'shared/core/rules/calendar.ts',
    original: 'known.set(key, value)',
    replacement: ';',
    why: 'a known value is computed again; only time is lost',
  },
  {
    file: SENT_TIME,
    original: '10 * value.charCodeAt(at) + value.charCodeAt(at + 1)',
    replacement: '((10 * value.charCodeAt(at)) - (value.charCodeAt(at + 1)))',
    why: GENERAL_PATH,
  },
  {
    file: SENT_TIME,
    original: '10 * value.charCodeAt(at)',
    replacement: '((10) / (value.charCodeAt(at)))',
    why: GENERAL_PATH,
  },
  {
    file: SENT_TIME,
    original: '10',
    replacement: '11',
    why: GENERAL_PATH,
  },
  {
    file: 'shared/stores/kv/admit-in-memory.ts',
    original: 'state.live.clear()',
    replacement: ';',
    why: 'nobody reads the positions there; they only take memory',
  },
  {
    file: 'shared/points/journal/journal.ts',
    original: 'points > 1',
    replacement: '((points) >= (1))',
    why: 'an entry with one point adds nothing to the count',
  },
  {
    file: 'shared/points/journal/journal.ts',
    original: 'points > 1',
    replacement: 'true',
    why: 'an entry with one point adds nothing to the count',
  },
  {
    file: 'shared/points/journal/journal-recovery.ts',
    original: 'page < PAGES_A_ROUND',
    replacement: '((page) <= (PAGES_A_ROUND))',
    why: 'a round reads one page more',
  },
  {
    file: 'shared/points/journal/journal-recovery.ts',
    original: 'page < PAGES_A_ROUND && unavailable.size < kv.partitions',
    replacement: '((page < PAGES_A_ROUND) || (unavailable.size < kv.partitions))',
    why: 'a round reads more pages; none of them reaches an unavailable partition',
  },
  {
    file: 'shared/points/journal/journal-recovery.ts',
    original: 'unavailable.size < kv.partitions',
    replacement: '((unavailable.size) <= (kv.partitions))',
    why: 'a round reads more pages; none of them reaches an unavailable partition',
  },
  {
    file: 'shared/points/journal/journal-recovery.ts',
    original: 'place === 0',
    replacement: 'false',
    why: 'the round reads the first pages again, which the next round would read',
  },
  {
    file: 'shared/points/ledger/counters.ts',
    original: 'unsaved.clear()',
    replacement: ';',
    why: 'the first write contains two more zeros',
  },
  {
    file: 'services/scheduler/flush/update-totals.ts',
    code: 'if (step.done) plan.days = step.value',
    original: 'step.done',
    replacement: 'true',
    why: 'the days are overwritten by the last step',
  },
  {
    file: 'services/line-bot/webhook/handle-webhook-event.ts',
    original: 'context.now() - event.timestamp > TOKEN_MS',
    replacement: '((context.now() - event.timestamp) >= (TOKEN_MS))',
    why: 'one millisecond of a limit that only saves calls which LINE would refuse',
  },
  {
    file: 'services/scheduler/flush/flush-slice.ts',
    code: 'if (erasures.size === 0) return points',
    original: 'erasures.size === 0',
    replacement: 'false',
    why: 'the code below gives the same for nobody erased; only time is lost',
  },
  {
    file: 'shared/points/totals/event-totals.ts',
    original: 'sums.points > 0',
    replacement: '((sums.points) >= (0))',
    why: 'each hour of a fold that starts without stored days has a point',
  },
  {
    file: 'services/line-bot/sending/send-messages.ts',
    original: 'recorded.length > 0',
    replacement: 'true',
    why: 'only a message that is still sent and has nothing waiting is completed',
  },
  {
    file: 'services/scheduler/flush/flush.ts',
    code: 'if (token === null) return null',
    original: 'token === null',
    replacement: 'false',
    why: 'only a process that stops comes here without a token; its flush ends before the first slice, and the kv ignores the unlocking',
  },
  {
    file: 'services/scheduler/flush/store-points.ts',
    original: 'rows.length === 0',
    replacement: 'false',
    why: 'the code below gives the same for no rows; only time is lost',
  },
]

const matches = (one: Equivalent, { file, original, replacement, code }: Mutant): boolean =>
  one.file === file &&
  one.original === original &&
  one.replacement === replacement &&
  (one.code ?? code) === code

/** @returns the row of an equivalent mutant; undefined for a mutant that tests should kill */
export const equivalentOf = (mutant: Mutant): Equivalent | undefined =>
  EQUIVALENTS.find((one) => matches(one, mutant))
