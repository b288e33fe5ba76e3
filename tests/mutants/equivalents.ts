/** Equivalent mutants, which change no observable behaviour, each with the reason. */
import type { Mutant } from './mutations.ts'

interface Equivalent extends Pick<Mutant, 'file' | 'original' | 'replacement'> {
  /** Set where the same change elsewhere in the file is not equivalent. */
  readonly code?: string
  readonly why: string
}

const SENT_TIME = 'shared/rules/sent-time.ts'
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
    file: 'shared/ledger/process-counters.ts',
    code: 'let complained = false',
    original: 'false',
    replacement: 'true',
    why: 'it only affects a log line',
  },
  {
    file: 'shared/rules/calendar.ts',
    original: 'known.size >= MEMORY',
    replacement: '((known.size) < (MEMORY))',
    why: 'a forgotten value is computed again; only time is lost',
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
