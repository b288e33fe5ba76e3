/** The command lines of the scripts of package.json, and of the soak test. */
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { cleanEnvironment } from '#tests/helpers/clean-environment.ts'
import manifest from '../../package.json'
import { ROOT, runCommand } from '#tests/helpers/process.ts'

const { scripts } = manifest

/** Scripts that run a tool of a dependency. */
const TOOLS = ['check', 'format', 'lint', 'migrations', 'postinstall', 'prepare']
/** A measurement without a script. */
const SOAK = 'tests/faults/load/soak.ts'

interface Script {
  /** What a person types. */
  readonly typed: string
  readonly file: string
  /** Arguments that package.json gives. */
  readonly args: readonly string[]
}

function scriptOf([name, line]: readonly [name: string, line: string]): Script {
  const command = line.split(' && ').at(-1)!.split(' ')
  const [file, ...args] = command.slice(command.indexOf('bun') + 1)
  return { typed: name === 'start' ? 'bun start' : `bun run ${name}`, file: file!, args }
}

const SCRIPTS: readonly Script[] = [
  ...Object.entries(scripts)
    .filter(([name]) => !TOOLS.includes(name))
    .map(scriptOf),
  { typed: `bun ${SOAK}`, file: SOAK, args: [] },
]

/** One that reads its options by `readCommandLine`, as all others do, and those that parse their own. */
const HELPED = [
  'bun start',
  'bun run test',
  'bun run doctor',
  'bun run replay',
  'bun run demo',
  'bun run test:mutants',
]

let directory = ''
beforeEach(() => (directory = mkdtempSync(join(tmpdir(), 'command-line-'))))
afterEach(() => rmSync(directory, { recursive: true }))

/** Runs a script that can write only into `directory`, unless it writes into the tree. */
async function run({ file, args }: Script, option: string) {
  const ended = await runCommand([process.execPath, '--no-env-file', join(ROOT, file), ...args, option], {
    cwd: directory,
    env: { ...cleanEnvironment(), TMPDIR: directory, TEST_DIRECTORY: directory },
  })
  return { ...ended, files: readdirSync(directory) }
}

// Starting a program is most of its cost on a busy machine, so each starts once.
test.each(SCRIPTS)(
  '$typed refuses an unknown option with its usage and exit code 2, and does nothing else',
  async (script) => {
    expect(script.file).toMatch(/^(?:shared|services|proxy|tests)\/.+\.ts$/)
    const { out, err, code, files } = await run(script, '--no-such-option')
    expect(`${out}${err}`).toContain('no-such-option')
    expect(`${out}${err}`).toMatch(new RegExp(`${RegExp.escape(script.typed)}(?![:\\w])`))
    expect({ code, files }).toEqual({ code: 2, files: [] })
  },
)

test.each(SCRIPTS.filter(({ typed }) => HELPED.includes(typed)))(
  '$typed prints its usage for --help, and does nothing else',
  async (script) => {
    const { out, err, code, files } = await run(script, '--help')
    expect(out).toContain(script.typed)
    expect({ err, code, files }).toEqual({ err: '', code: 0, files: [] })
  },
)

test('npm 9 starts Bun in a checkout, too: it cannot read an alias among the overrides, and ignores resolutions', () => {
  const { overrides = {} } = manifest as { overrides?: Record<string, string> }
  expect(Object.values(overrides).filter((version) => version.startsWith('npm:'))).toEqual([])
})
