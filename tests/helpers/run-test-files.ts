/**
 * Runs `bun test`, and reruns files that failed, each by itself, because tests may fail on a busy machine.
 *
 * Files with only timeouts, those of the service included, are all rerun: the machine was slow. Of files with another
 * failure, such as a failed expectation, at most {@link RETRIED_FILES} are rerun. If more fail, the cause is not a busy
 * machine. A test that fails again has failed, and ends the reruns. One that then passes is reported as slow, or as
 * unsteady. An error outside tests fails the run.
 */
import { join } from 'node:path'
import { XMLParser } from 'fast-xml-parser'
import { TEST_MS } from './time-limits.ts'

const PRELOAD = join(import.meta.dir, 'longer-limits.ts')
/** Maximum number of files with failures other than timeouts that are rerun. */
const RETRIED_FILES = 3
/** Limits of a rerun are longer by this factor. */
const SECOND_TRY = 2

/** A test or hook that has run, or a skipped test. */
export interface Ran {
  /** The path as in bun test's arguments. */
  readonly file: string
  /** The name, including those of the enclosing groups. */
  readonly test: string
  readonly outcome: 'passed' | 'failed' | 'skipped'
  /** The message of a failure. */
  readonly said: string
  /** Whether it failed because of a timeout: of the test, or of the service, which answers 503. */
  readonly isLate: boolean
  /** Whether it is the set-up or the teardown of a group or file. */
  readonly isHook: boolean
}

export interface TestRun {
  /** Options of every `bun test` call. */
  readonly options: readonly string[]
  /** Further options of the first call: concurrency and files. */
  readonly first: readonly string[]
  /** Test files that may be rerun. Empty: no reruns. */
  readonly files: readonly string[]
  /** Directory for reports. */
  readonly directory: string
  /** How much slower than a quiet machine this one is: at the start, and as measured before a rerun. */
  readonly slowness: number
  readonly measure: () => Promise<number>
  /** Runs a command. @param onStderr receives its stderr. @returns its exit code; null: interrupted */
  readonly run: (
    command: string[],
    env: Record<string, string>,
    onStderr: (chunk: Uint8Array) => void,
  ) => Promise<number | null>
}

export interface Result {
  readonly code: number
  /** Every test with its final result. Undefined: `bun test` ended before all had run. */
  readonly ran: readonly Ran[] | undefined
  /** Failures of the first run that did not repeat: timeouts, and other reasons. */
  readonly slow: readonly Ran[]
  readonly unsteady: readonly Ran[]
}

/** Runs the tests, and reruns failed ones. @returns null when the run was interrupted */
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
    // The run has failed; further reruns would only take time.
    if (again.code !== 0) break
  }
  return result
}

/** Files in which a test failed, and files missing from the report, because they could not be loaded. */
function failedFiles(files: readonly string[], ran: readonly Ran[]): string[] {
  return files.filter((file) => {
    const mine = ran.filter((one) => one.file === file)
    return mine.length === 0 || mine.some(({ outcome }) => outcome === 'failed')
  })
}

/** Whether timeouts alone explain a file's failures: a teardown also fails if its set-up did. */
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

/** Detects errors outside tests in the output of `bun test`, which its report omits. */
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
/** The report's name for a hook; it lists those of a skipped `describe` as skipped tests. */
const HOOK = '(unnamed)'
/** Name of a timeout error: bun test's own, and those of `until`, of Playwright and of `fetch`. */
const LATE = 'TimeoutError'
/** Line before an error outside tests in the output of `bun test`. */
const OTHER_ERROR = '# Unhandled error between tests'
/** A 503 of the service means that the machine was too slow for its deadlines. It repeats if a part is broken. */
const UNAVAILABLE = /"code":"unavailable"|Received: 503$|^Refusal: .* at the moment/m
/** bun test's own message does not say which limit was exceeded. */
const LATE_MESSAGE = 'test timed out'

const parser = new XMLParser({
  ignoreAttributes: false,
  attributeNamePrefix: '',
  parseTagValue: false,
  // Line breaks are written as numbers.
  htmlEntities: true,
  isArray: (name) => LISTS.includes(name),
})

/** Undefined when `bun test` ended before it wrote a report. Files that could not be loaded are not in it. */
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
