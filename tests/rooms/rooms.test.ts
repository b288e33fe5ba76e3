/**
 * `shared/README.md` tells the order of the rooms and the way of a check-in; the linter and the imports agree with it.
 */
import { expect, test } from 'bun:test'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, extname, join } from 'node:path'

const ROOT = join(import.meta.dir, '../..')
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')
const README = read('shared/README.md')
const section = (heading: string): string => README.split(`\n## ${heading}\n`)[1]!.split('\n## ')[0]!

/** From bottom to top. */
const ROOMS = [...section('Rooms').matchAll(/^\d+\. \[`(\w+)`\]\((\w+)\/README\.md\)/gm)].map(
  ([, name]) => name!,
)
/** What is above every room. */
const ABOVE = ['services', 'proxy']

const rankOf = (path: string): number => {
  const [top, room] = path.split('/')
  return top === 'shared' ? ROOMS.indexOf(room!) : ROOMS.length + ABOVE.indexOf(top!)
}

test('every room is in the list and has a README', () => {
  const folders = readdirSync(join(ROOT, 'shared'), { withFileTypes: true }).filter((one) =>
    one.isDirectory(),
  )
  expect(folders.map(({ name }) => name).sort()).toEqual([...ROOMS].sort())
  for (const room of ROOMS) expect(read(`shared/${room}/README.md`)).toStartWith('# ')
})

/** Writes files that import the given paths, a line each. @returns the lines that the linter refuses, as file:line */
function refusedLines(files: ReadonlyMap<string, readonly string[]>): string[] {
  const directory = mkdtempSync(join(tmpdir(), 'rooms-'))
  try {
    cpSync(join(ROOT, '.oxlintrc.json'), join(directory, '.oxlintrc.json'))
    for (const [file, paths] of files) {
      mkdirSync(join(directory, dirname(file)), { recursive: true })
      writeFileSync(join(directory, file), paths.map((path) => `export * from '${path}'\n`).join(''))
    }
    const { stdout } = Bun.spawnSync([join(ROOT, 'node_modules/.bin/oxlint'), '--format=unix'], {
      cwd: directory,
    })
    const lines = stdout.toString().split('\n')
    return lines
      .filter((line) => line.includes('no-restricted-imports'))
      .map((line) => line.split(':').slice(0, 2).join(':'))
      .sort()
  } finally {
    rmSync(directory, { recursive: true })
  }
}

test('the linter lets no room import one above it, in either spelling, and lets it import those below', () => {
  const files = new Map<string, string[]>()
  const wanted: string[] = []
  for (const [rank, room] of ROOMS.entries()) {
    const file = `shared/${room}/deeper/imports.ts`
    const upward = [
      ...ROOMS.slice(rank + 1).flatMap((other) => [`#shared/${other}/x.ts`, `../../${other}/x.ts`]),
      ...ABOVE.map((other) => `#${other}/x.ts`),
    ]
    // The client imports nothing at all.
    const downward = room === 'client' ? [] : ROOMS.slice(0, rank).map((other) => `#shared/${other}/x.ts`)
    files.set(file, [...upward, ...downward, './x.ts'])
    wanted.push(...upward.map((_, line) => `${file}:${line + 1}`))
  }
  expect(refusedLines(files)).toEqual(wanted.sort())
})

test('the linter lets no port know a driver, and nobody else choose one', () => {
  const drivers = ['kv/kv.redis', 'kv/kv.embedded', 'db/db.postgres', 'bus/bus.nats', 'objects/objects.s3']
  const ports = ['kv/kv', 'db/db', 'bus/bus', 'objects/objects']
  const files = new Map(
    ['shared/points/a.ts', 'shared/service/a.ts', 'services/admin/a.ts'].map((file) => [
      file,
      [...drivers, ...ports].map((name) => `#shared/stores/${name}.ts`),
    ]),
  )
  const wanted = [...files.keys()].flatMap((file) => drivers.map((_, line) => `${file}:${line + 1}`))
  files.set('shared/stores/kv/kv.ts', ['./kv.redis.ts', './embedded/state.ts'])
  wanted.push('shared/stores/kv/kv.ts:1', 'shared/stores/kv/kv.ts:2')
  expect(refusedLines(files)).toEqual(wanted.sort())
})

interface Step {
  readonly path: string
  readonly depth: number
  /** The file that imports it; none at the beginning of a part of the way. */
  readonly parent: string | null
}

function wayOfACheckIn(): Step[] {
  const open: string[] = []
  return [...section('The way of a check-in').matchAll(/^( *)- `([\w./-]+)`/gm)].map(([, indent, path]) => {
    const depth = indent!.length / 2
    open.length = depth
    open.push(path!)
    return { path: path!, depth, parent: open[depth - 1] ?? null }
  })
}

/** Files that a file imports; of a Lua script, the file that reads it by its name. */
function imports(file: string, wanted: string): boolean {
  const text = read(file)
  if (extname(wanted) !== '.ts') return text.includes(`'${basename(wanted, extname(wanted))}'`)
  return [...text.matchAll(/from '([^']+)'/g)].some(([, path]) => {
    const found = path!.startsWith('#') ? path!.slice(1) : join(dirname(file), path!)
    return found === wanted
  })
}

test('each file on the way of a check-in imports those that follow it, and none of them is in a room above', () => {
  const steps = wayOfACheckIn()
  const files = new Set(steps.map(({ path }) => path)).size
  expect(files).toBeGreaterThan(40)
  // Half of what it was in the first release.
  expect(files, 'merge what is only read together').toBeLessThanOrEqual(53)
  const wrong = steps.flatMap(({ path, parent }) => {
    if (parent === null) return rankOf(path) < 0 ? [`${path} is in no room`] : []
    return [
      ...(imports(parent, path) ? [] : [`${parent} does not import ${path}`]),
      ...(rankOf(path) >= 0 && rankOf(path) <= rankOf(parent) ? [] : [`${parent} climbs to ${path}`]),
    ]
  })
  expect(wrong).toEqual([])
})

test('the documents of the rooms name only files that there are', () => {
  const missing = ['', ...ROOMS.map((room) => `${room}/`)].flatMap((room) =>
    [...read(`shared/${room}README.md`).matchAll(/`((?:\.\.\/)?[\w.-]+(?:\/[\w.-]+)*\.(?:ts|lua|md))`/g)]
      .map(([, path]) => path!)
      .filter(
        (path) => !['', join('shared', room), 'shared'].some((from) => existsSync(join(ROOT, from, path))),
      )
      .map((path) => `shared/${room}README.md: ${path}`),
  )
  expect(missing).toEqual([])
})
