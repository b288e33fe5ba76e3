/** The linter and the imports agree with the order of the layers and the path of a check-in. */
import { expect, test } from 'bun:test'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, extname, join } from 'node:path'
import { checkInPath } from '#tests/documents/check-in-path.ts'
import { LAYERS } from './layers.ts'

const ROOT = join(import.meta.dir, '../..')
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')
/** Layers above all others. */
const ABOVE = ['services', 'proxy']

const rankOf = (path: string): number => {
  const [top, layer] = path.split('/')
  return top === 'shared' ? LAYERS.indexOf(layer!) : LAYERS.length + ABOVE.indexOf(top!)
}

test('every layer is in the list', () => {
  const folders = readdirSync(join(ROOT, 'shared'), { withFileTypes: true }).filter((entry) =>
    entry.isDirectory(),
  )
  expect(folders.map(({ name }) => name).sort()).toEqual([...LAYERS].sort())
})

/**
 * Writes files that import the given paths, one per line.
 * @returns the lines that the linter rejects, as file:line
 */
function refusedLines(files: ReadonlyMap<string, readonly string[]>): string[] {
  const directory = mkdtempSync(join(tmpdir(), 'layers-'))
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

test('the linter lets no layer import one above it, in either spelling, and lets it import those below', () => {
  const files = new Map<string, string[]>()
  const wanted: string[] = []
  for (const [rank, layer] of LAYERS.entries()) {
    const file = `shared/${layer}/deeper/imports.ts`
    const upward = [
      ...LAYERS.slice(rank + 1).flatMap((other) => [`#shared/${other}/x.ts`, `../../${other}/x.ts`]),
      ...ABOVE.map((other) => `#${other}/x.ts`),
    ]
    // The client imports nothing at all.
    const downward = layer === 'client' ? [] : LAYERS.slice(0, rank).map((other) => `#shared/${other}/x.ts`)
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

/** Whether a file imports another; a Lua script counts as imported by the file that reads it by name. */
function imports(file: string, wanted: string): boolean {
  const text = read(file)
  if (extname(wanted) !== '.ts') return text.includes(`'${basename(wanted, extname(wanted))}'`)
  return [...text.matchAll(/from '([^']+)'/g)].some(([, path]) => {
    const found = path!.startsWith('#') ? path!.slice(1) : join(dirname(file), path!)
    return found === wanted
  })
}

test('each file on the path of a check-in imports those that follow it, and none of them is in a layer above', () => {
  const steps = checkInPath().flatMap((part) => part.steps)
  const files = new Set(steps.map(({ path }) => path)).size
  expect(files).toBeGreaterThan(40)
  // Half as many as in the first release.
  expect(files, 'merge what is only read together').toBeLessThanOrEqual(53)
  const wrong = steps.flatMap(({ path, parent }) => {
    if (parent === null) return rankOf(path) < 0 ? [`${path} is in no layer`] : []
    return [
      ...(imports(parent, path) ? [] : [`${parent} does not import ${path}`]),
      ...(rankOf(path) >= 0 && rankOf(path) <= rankOf(parent) ? [] : [`${parent} climbs to ${path}`]),
    ]
  })
  expect(wrong).toEqual([])
})
