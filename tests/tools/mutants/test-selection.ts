/**
 * Selects the tests that should detect a fault in a file: those that import it, and those of its row in a
 * table.
 */
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

interface Room {
  /** Folder or file of the product. */
  readonly source: string
  /**
   * Test files that detect faults although they reach the file only through others; below `tests`, without extension.
   */
  readonly importing: readonly string[]
  /** Test files that detect faults through processes, named the same way. */
  readonly through?: readonly string[]
}

/** The first row that contains a file applies. */
export const ROOMS: readonly Room[] = [
  {
    source: 'shared/core/rules',
    importing: [
      'rules/*',
      'distance/*',
      'points/point',
      'points/validate-points',
      'pilgrims/*',
      'line-bot/parts',
    ],
    through: ['journeys/survey-profile'],
  },
  {
    source: 'shared/core/map',
    importing: [
      'map/*',
      'distance/*',
      'admin/map-tiles',
      'admin/front-and-tail',
      'scheduler/flush',
      'scheduler/rebuild',
    ],
    through: ['journeys/clusters'],
  },
  {
    source: 'shared/points/ledger',
    importing: ['ledger/*', 'points/*', 'admin/dead-letters', 'admin/backup.long'],
    through: ['journeys/ledger'],
  },
  { source: 'shared/points/totals', importing: ['distance/*', 'scheduler/flush', 'scheduler/erased'] },
  {
    source: 'shared/points',
    importing: ['points/*'],
    through: ['journeys/check-in-and-track', 'journeys/ledger'],
  },
  {
    source: 'shared/service/openapi',
    importing: ['openapi/*', 'client/*'],
    through: ['runtime/command-line.long'],
  },
  { source: 'shared/core/distance', importing: ['distance/*', 'scheduler/flush', 'scheduler/erased'] },
  {
    source: 'services/scheduler',
    importing: ['scheduler/*'],
    through: ['line-bot/notifications'],
  },
  {
    source: 'services/line-bot',
    importing: [
      'line-bot/parts',
      'line-bot/rich-menu',
      'line-bot/push-service',
      'line-bot/sender',
      'line-bot/figures',
    ],
    through: [
      'webhook',
      'push',
      'announcements',
      'notifications',
      'send-messages',
      'web-push',
      'pilgrim-replies',
      'links',
      'refused-webhook-events',
    ]
      .map((name) => `line-bot/${name}`)
      .concat('journeys/writes-without-kv'),
  },
  {
    source: 'services/admin/erasure',
    importing: ['scheduler/erased', 'erasure/*', 'ledger/balance'],
    through: ['journeys/personal-data'],
  },
  { source: 'shared/client/queue', importing: ['client/*'], through: ['client/client-embedded'] },
  { source: 'shared/stores/kv', importing: ['kv/*', 'points/*'], through: ['journeys/check-in-and-track'] },
  { source: 'services/tracking/ingest', importing: ['tracking/*'], through: ['journeys/trackers'] },
  { source: 'proxy/pages/walk/recording/position-filter.ts', importing: ['proxy/walk/*'] },
  {
    source: 'shared/service/security/admin-auth.ts',
    importing: ['security/*'],
    through: ['journeys/access'],
  },
]

/** The assumed import distance of a test that starts the whole service. */
const THROUGH_PROCESSES = 4

export interface Candidate {
  readonly test: string
  /** Imports between the test and the file. */
  readonly distance: number
}

/** Source files in a folder, or the file itself, as paths from the root. @throws Error if there are none */
export function sourcesIn(root: string, path: string): string[] {
  const files = path.endsWith('.ts')
    ? [...new Bun.Glob(path).scanSync({ cwd: root })]
    : [...new Bun.Glob(`${path}/**/*.ts`).scanSync({ cwd: root })]
  if (files.length === 0) throw new Error(`no source file is at ${path}`)
  const foreign = files.find((file) => roomOf(file) === undefined)
  if (foreign !== undefined)
    throw new Error(`${foreign} has no tests in tests/tools/mutants/test-selection.ts; add a row there`)
  return files.sort()
}

const roomOf = (file: string): Room | undefined =>
  ROOMS.find(({ source }) => file === source || file.startsWith(`${source}/`))

/** Creates the selection of tests for a file. @param root of the tree */
export function createSelection(root: string): (file: string) => Candidate[] {
  const imports = new Map<string, readonly string[]>()
  const importsOf = (file: string): readonly string[] => {
    const known = imports.get(file)
    if (known !== undefined) return known
    const found = readImports(root, file)
    imports.set(file, found)
    return found
  }
  const distancesOf = new Map<string, ReadonlyMap<string, number>>()
  const distances = (test: string): ReadonlyMap<string, number> => {
    const known = distancesOf.get(test) ?? walk(test, importsOf)
    distancesOf.set(test, known)
    return known
  }
  const filesOf = (name: string): string[] =>
    [...new Bun.Glob(`tests/${name}.test.ts`).scanSync({ cwd: root })].sort()
  return (file) => {
    const { importing, through = [] } = roomOf(file)!
    const direct = filesOf('**/*').filter((test) => importsOf(test).includes(file))
    const near = [...new Set([...direct, ...importing.flatMap(filesOf)])].flatMap((test) => {
      const distance = distances(test).get(file)
      return distance === undefined ? [] : [{ test, distance }]
    })
    const far = through.flatMap(filesOf).map((test) => ({ test, distance: THROUGH_PROCESSES }))
    const found = [...near, ...far]
    if (found.length === 0)
      throw new Error(`no test imports ${file}: see its row in tests/tools/mutants/test-selection.ts`)
    return found
  }
}

/** Number of imports from a file to each of its dependencies. */
function walk(from: string, importsOf: (file: string) => readonly string[]): ReadonlyMap<string, number> {
  const distances = new Map([[from, 0]])
  for (const [file, distance] of distances)
    for (const next of importsOf(file)) if (!distances.has(next)) distances.set(next, distance + 1)
  return distances
}

const transpiler = new Bun.Transpiler({ loader: 'ts' })

/** Files of this tree that a file imports, except types. */
function readImports(root: string, file: string): string[] {
  const text = readFileSync(join(root, file), 'utf8')
  return transpiler.scanImports(text).flatMap(({ path }) => {
    if (!path.endsWith('.ts')) return []
    return [path.startsWith('#') ? path.slice(1) : join(dirname(file), path)]
  })
}
