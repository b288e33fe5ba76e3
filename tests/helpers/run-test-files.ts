/**
 * Runs `bun test`, and files that failed once more by themselves, because tests may fail on a busy machine.
 *
 * Files in which only limits of time ended, those of the service included, run again however many they are: the machine
 * was slow. Of files with another
 * failure, such as an expectation that was not met, at most {@link RETRIED_FILES} run again. When more fail, the cause
 * is no busy machine. A test that fails again has failed, and ends the second tries. One that passes then is reported
 * as slow, or as unsteady. An error outside of tests fails the run.
 */
import { join } from 'node:path'
import { XMLParser } from 'fast-xml-parser'
import { TEST_MS } from './time-limits.ts'

const PRELOAD = join(import.meta.dir, 'longer-limits.ts')
/** The most files with other failures than limits of time that run once more. */
const RETRIED_FILES = 3
/** Limits of a second try are longer by this factor. */
const SECOND_TRY = 2

/** A test or hook that has run, or a test that was skipped. */
export interface Ran {
  /** The path as bun test's arguments name it. */
  readonly file: string
  /** The name, with those of the groups around it. */
  readonly test: string
  readonly outcome: 'passed' | 'failed' | 'skipped'
  /** The message of a failure. */
  readonly said: string
  /** Whether it failed because a limit of time ended: of the test, or of the service, which answers 503. */
  readonly isLate: boolean
  /** Whether it is the set-up or the teardown of a group or file. */
  readonly isHook: boolean
}

export interface TestRun {
  /** What `bun test` gets in every try. */
  readonly options: readonly string[]
  /** What it gets in the first: how many files run at the same time, and which. */
  readonly first: readonly string[]
  /** Test files that may run once more. None: there is no second try. */
  readonly files: readonly string[]
  /** Directory for reports. */
  readonly directory: string
  /** How much slower than a quiet machine this one is: at the start, and as measured before a second try. */
  readonly slowness: number
  readonly measure: () => Promise<number>
  /** Runs a command. @param onStderr gets what it prints there. @returns its exit code; null: interrupted */
  readonly run: (
    command: string[],
    env: Record<string, string>,
    onStderr: (chunk: Uint8Array) => void,
  ) => Promise<number | null>
}

export interface Result {
  readonly code: number
  /** Every test, as it ended at last. Undefined: `bun test` ended before all had run. */
  readonly ran: readonly Ran[] | undefined
  /** Failures of the first try that did not repeat: because limits of time ended, and for other reasons. */
  readonly slow: readonly Ran[]
  readonly unsteady: readonly Ran[]
}

/** Runs the tests, and those that failed once more. @returns null when the run was interrupted */
export async function runTestFiles(plan: TestRun): Promise<Result | null> {
  const first = await attempt(plan, plan.first, plan.slowness, 'report.xml')
  if (first === null) return null
  const failed = first.code === 0 || first.ran === undefined ? [] : failedFiles(plan.files, first.ran)
  const others = failed.filter((file) => !isOnlyLate(first.ran!, file))
  const result = { ...first, slow: [] as Ran[], unsteady: [] as Ran[] }
  if (failed.length === 0 || others.length > RETRIED_FILES || first.hasOtherError) return result

  const slowness = SECOND_TRY * Math.max(plan.slowness, await plan.measure())
  result.code = 0
  for (const file of failed) {
    console.log(`\nFailed among others; runs once more by itself: ${file}`)
    const again = await attempt(plan, ['--parallel=1', `./${file}`], slowness, 'again.xml')
    if (again === null) return null
    result.code = again.code
    if (again.ran === undefined) break
    const before = first.ran!.filter((one) => one.file === file && one.outcome === 'failed')
    const repeated = new Set(again.ran.filter(({ outcome }) => outcome === 'failed').map(({ test }) => test))
    const passed = before.filter(({ test }) => !repeated.has(test))
    result[others.includes(file) ? 'unsteady' : 'slow'].push(...passed)
    result.ran = [...result.ran!.filter((one) => one.file !== file), ...again.ran]
    // The run has failed; more tries would only take time.
    if (again.code !== 0) break
  }
  return result
}

/** Files in which a test failed, and files that are not in the report, because they could not be loaded. */
function failedFiles(files: readonly string[], ran: readonly Ran[]): string[] {
  return files.filter((file) => {
    const mine = ran.filter((one) => one.file === file)
    return mine.length === 0 || mine.some(({ outcome }) => outcome === 'failed')
  })
}

/** Whether limits of time alone explain a file's failures: a teardown also fails of what was not set up. */
function isOnlyLate(ran: readonly Ran[], file: string): boolean {
  const failures = ran.filter((one) => one.file === file && one.outcome === 'failed')
  const isSetUpLate = failures.some(({ isLate, isHook }) => isLate && isHook)
  return failures.length > 0 && failures.every(({ isLate, isHook }) => isLate || (isHook && isSetUpLate))
}

async function attempt(
  { options, directory, run }: TestRun,
  args: readonly string[],
  slowness: number,
  name: string,
): Promise<{ code: number; hasOtherError: boolean; ran: readonly Ran[] | undefined } | null> {
  const path = join(directory, name)
  await Bun.file(path)
    .delete()
    .catch(() => undefined)
  const reporter = ['--reporter=junit', `--reporter-outfile=${path}`]
  const limits = [`--timeout=${Math.round(TEST_MS * slowness)}`, `--preload=${PRELOAD}`]
  const command = [process.execPath, 'test', ...options, ...limits, ...reporter, ...args]
  const errors = watchOtherErrors()
  const code = await run(command, { TEST_SLOWNESS: slowness.toFixed(2) }, errors.read)
  return code === null ? null : { code, hasOtherError: errors.seen(), ran: await readReport(path) }
}

/** Looks for an error outside of tests in the output of `bun test`: its report leaves it out. */
function watchOtherErrors() {
  const decoder = new TextDecoder()
  let [line, isSeen] = ['', false]
  return {
    seen: () => isSeen,
    read(chunk: Uint8Array) {
      const text = line + decoder.decode(chunk, { stream: true })
      isSeen ||= text.includes(OTHER_ERROR)
      line = text.slice(text.lastIndexOf('\n') + 1)
    },
  }
}

interface Case {
  readonly name: string
  readonly classname: string
  readonly file: string
  /** Seconds. */
  readonly time: string
  readonly failure?: readonly {
    readonly type: string
    readonly message?: string
    readonly '#text'?: string
  }[]
  readonly skipped?: unknown
}
interface Suite {
  readonly testsuite?: readonly Suite[]
  readonly testcase?: readonly Case[]
}

const LISTS = ['testsuite', 'testcase', 'failure']
/** The report calls a hook so, and lists those of a skipped `describe` as skipped tests. */
const HOOK = '(unnamed)'
/** The name of an error that ended a wait: bun test's own, and those of `until`, of Playwright and of `fetch`. */
const LATE = 'TimeoutError'
/** Heads an error outside of tests in the output of `bun test`. */
const OTHER_ERROR = '# Unhandled error between tests'
/** A 503 of the service, which says so that the machine was too slow for its deadlines. It repeats if a part is broken. */
const UNAVAILABLE = /"code":"unavailable"|Received: 503$|^Refusal: .* at the moment/m
/** bun test's own message does not say which limit ended. */
const LATE_MESSAGE = 'test timed out'

const parser = new XMLParser({
  ignoreAttributes: false,
  attributeNamePrefix: '',
  parseTagValue: false,
  // Line ends are written as numbers.
  htmlEntities: true,
  isArray: (name) => LISTS.includes(name),
})

/** Undefined when `bun test` ended before it wrote a report. A file that could not be loaded is not in it. */
async function readReport(path: string): Promise<Ran[] | undefined> {
  const file = Bun.file(path)
  if (!(await file.exists())) return undefined
  const { testsuites } = parser.parse(await file.text()) as { testsuites: Suite | '' }
  return [...casesOf(testsuites === '' ? {} : testsuites)]
    .map(ranOf)
    .filter(({ outcome, isHook }) => outcome !== 'skipped' || !isHook)
}

function* casesOf({ testsuite = [], testcase = [] }: Suite): Generator<Case> {
  yield* testcase
  for (const suite of testsuite) yield* casesOf(suite)
}

function ranOf({ failure: [failure] = [], skipped, file, classname, name, time }: Case): Ran {
  const isHook = name === HOOK
  const test = [classname, isHook ? 'set-up or teardown' : name].filter(Boolean).join(' > ')
  if (failure === undefined) {
    const outcome = skipped === undefined ? 'passed' : 'skipped'
    return { file, test, isHook, isLate: false, outcome, said: '' }
  }
  const text = (failure['#text'] ?? failure.message ?? '').trim()
  const isLate = failure.type === LATE || UNAVAILABLE.test(text)
  const said = text === LATE_MESSAGE ? `It took longer than its limit: ${Number(time).toFixed(0)} s.` : text
  return { file, test, isHook, isLate, outcome: 'failed', said }
}
