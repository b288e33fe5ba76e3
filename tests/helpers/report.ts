/** Reads the JUnit XML report of `bun test`. */
import { XMLParser } from 'fast-xml-parser'

/** A test that has run, or was skipped. */
export interface Ran {
  /** As bun test's arguments name it. */
  readonly file: string
  /** With the names of the groups around it. */
  readonly test: string
  readonly outcome: 'passed' | 'failed' | 'skipped'
  /** The message of a failure. */
  readonly said: string
}

interface Case {
  readonly name: string
  readonly classname: string
  readonly file: string
  readonly failure?: readonly ({ readonly '#text'?: string; readonly message?: string } | string)[]
  readonly skipped?: unknown
}
interface Suite {
  readonly testsuite?: readonly Suite[]
  readonly testcase?: readonly Case[]
}

const LISTS = ['testsuite', 'testcase', 'failure']
/** The report lists the hooks of a skipped `describe` as skipped tests of this name. */
const HOOK = '(unnamed)'

const parser = new XMLParser({
  ignoreAttributes: false,
  attributeNamePrefix: '',
  parseTagValue: false,
  // Line ends are written as numbers.
  htmlEntities: true,
  isArray: (name) => LISTS.includes(name),
})

/** Undefined when `bun test` ended before it wrote a report. A file that could not be loaded is not in it. */
export async function readReport(path: string): Promise<Ran[] | undefined> {
  const file = Bun.file(path)
  if (!(await file.exists())) return undefined
  const { testsuites } = parser.parse(await file.text()) as { testsuites: Suite | '' }
  return [...casesOf(testsuites === '' ? {} : testsuites)]
    .map(ranOf)
    .filter(({ test, outcome }) => outcome !== 'skipped' || !test.endsWith(HOOK))
}

function* casesOf({ testsuite = [], testcase = [] }: Suite): Generator<Case> {
  yield* testcase
  for (const suite of testsuite) yield* casesOf(suite)
}

function ranOf({ failure: [failure] = [], skipped, file, classname, name }: Case): Ran {
  const test = [classname, name].filter(Boolean).join(' > ')
  if (failure === undefined)
    return { file, test, outcome: skipped === undefined ? 'passed' : 'skipped', said: '' }
  const said = typeof failure === 'string' ? failure : (failure['#text'] ?? failure.message ?? '')
  return { file, test, outcome: 'failed', said: said.trim() }
}
