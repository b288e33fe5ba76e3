/**
 * Client input is never a key of a plain object, since every object has `constructor` and `__proto__`.
 * TypeScript lets an arbitrary string index only values that are declared as `Record<string, …>` (or cast to
 * it, or to `keyof`), so each such access is checked: it needs a literal key, or `Object.hasOwn` in the same
 * function. A table keyed by text is a `Map`.
 */
import { Glob } from 'bun'
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { parseSync } from 'oxc-parser'

type Node = Readonly<Record<string, unknown>> & {
  readonly type: string
  readonly start: number
  readonly end: number
}

const ROOT = join(import.meta.dir, '../..')
const RECORD =
  /^:?\s*(Readonly<|Partial<)*Record<\s*string\b|^:?\s*\{[^:]*\[\w+: string\]|\bas (Readonly<)?Record<\s*string\b/
const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof (value as Node).type === 'string'

/** Calls `visit` with each node and its ancestors, outermost first. */
function walk(value: unknown, visit: (node: Node, parents: readonly Node[]) => void, parents: Node[] = []) {
  if (Array.isArray(value)) for (const one of value) walk(one, visit, parents)
  else if (isNode(value)) {
    visit(value, parents)
    for (const child of Object.values(value)) walk(child, visit, [...parents, value])
  }
}

/** The name of an identifier, or the text of a literal. */
function nameOf(node: unknown): string {
  const { name, value } = (isNode(node) ? node : {}) as { name?: unknown; value?: unknown }
  const text = name ?? value
  return typeof text === 'string' ? text : ''
}

interface Source {
  readonly path: string
  readonly text: string
  readonly program: unknown
}

/** Names of variables, parameters and properties that are declared as records of any string. */
function recordsOf({ text, program }: Source): Set<string> {
  const names = new Set<string>()
  const textOf = (node: unknown) => (isNode(node) ? text.slice(node.start, node.end) : '')
  walk(program, (node) => {
    if (node.type === 'Identifier' && RECORD.test(textOf(node.typeAnnotation))) names.add(nameOf(node))
    if (node.type === 'TSPropertySignature' && RECORD.test(textOf(node.typeAnnotation)))
      names.add(nameOf(node.key))
    if (
      node.type === 'VariableDeclarator' &&
      / as (const satisfies )?(Readonly<)?Record<string/.test(textOf(node.init))
    )
      names.add(nameOf(node.id))
    if (
      node.type === 'Property' &&
      /^z\s*\.record\(\s*(z\.string|Key|text|Question)/.test(textOf(node.value))
    )
      names.add(nameOf(node.key))
  })
  // A pattern such as `{ user_id }` reads known fields, and has no name.
  names.delete('')
  return names
}

const FUNCTIONS = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression'])

/** @param everywhere names of properties that any file declares as records */
function findingsOf(source: Source, everywhere: ReadonlySet<string>): string[] {
  const { path, text } = source
  const own = recordsOf(source)
  const found: string[] = []
  const textOf = (node: unknown) => (isNode(node) ? text.slice(node.start, node.end) : '')
  walk(source.program, (node, parents) => {
    if (node.type !== 'MemberExpression' || node.computed !== true) return
    const { object, property } = node as unknown as { object: Node; property: Node }
    if (property.type === 'Literal') return
    const key = textOf(property)
    const base =
      object.type === 'MemberExpression' && object.computed !== true
        ? nameOf(object.property)
        : nameOf(object)
    const isRecord =
      own.has(base) || everywhere.has(base) || RECORD.test(textOf(object)) || /\bas keyof\b/.test(key)
    if (!isRecord) return
    const around = parents.findLast(({ type }) => FUNCTIONS.has(type))
    if (textOf(around).includes('Object.hasOwn(')) return
    const line = text.slice(0, node.start).split('\n').length
    found.push(`${path}:${line}: ${textOf(node)}`)
  })
  return found
}

const parse = (path: string, text: string): Source => ({ path, text, program: parseSync(path, text).program })

/** Programs that read no requests: they generate the document and the client from the contracts. */
const BUILT =
  /^shared\/(client|runtime\/config|stores\/db|service\/openapi)\/|^services\/(scheduler\/rebuild|admin\/(backup|reset|restore))[/.]|^proxy\/pages\//

async function sources(): Promise<Source[]> {
  const all: Source[] = []
  for await (const path of new Glob('{services,shared,proxy}/**/*.{ts,tsx}').scan(ROOT))
    if (!path.includes('node_modules') && !BUILT.test(path))
      all.push(parse(path, await Bun.file(join(ROOT, path)).text()))
  return all
}

test('no table is indexed by what a client may write', async () => {
  const all = await sources()
  expect(all.length).toBeGreaterThan(250)
  const everywhere = new Set<string>()
  expect(all.flatMap((source) => findingsOf(source, everywhere)).sort()).toEqual([])
})

test('the rule finds a table by text, a cast, and a field, and accepts what is looked up safely', () => {
  const findings = (text: string) => findingsOf(parse('x.ts', text), new Set()).length
  expect(findings('const T: Record<string, string> = {}; const f = (tag: string) => T[tag]')).toBe(1)
  expect(findings('const T = { a: 1 }; const f = (tag: string) => T[tag as keyof typeof T]')).toBe(1)
  expect(
    findings(
      'const f = (r: Row, k: string) => r.sums[k]; interface Row { sums: Readonly<Record<string, number>> }',
    ),
  ).toBe(1)
  expect(
    findings(
      'const T: Record<string, string> = {}; const f = (t: string) => Object.hasOwn(T, t) ? T[t] : null',
    ),
  ).toBe(0)
  expect(findings('const T = new Map<string, string>(); const f = (tag: string) => T.get(tag)')).toBe(0)
  expect(findings("const T: Record<string, string> = {}; const f = () => T['a']")).toBe(0)
})
