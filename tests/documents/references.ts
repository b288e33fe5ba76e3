/** Generates the lists of the documents from the code. `bun run references` writes them. */
import { readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { z } from 'zod'
import { OBSERVED } from '#proxy/observe/write.ts'
import { ENDPOINTS } from '#shared/contracts/endpoints.ts'
import { describeSettings } from '#shared/runtime/config/config.ts'
import { type Metric, METRICS } from '#shared/runtime/metric-table.ts'
import { readCommandLine } from '#shared/runtime/command-line.ts'
import { LAYERS } from '#tests/layers/layers.ts'
import { checkInPath } from './check-in-path.ts'
import { PUBLIC_ANSWERS } from './public-answers.ts'

const USAGE = `Writes the documents that are generated from the code: services/REFERENCE.md and shared/REFERENCE.md.

  bun run references [--check] [--help]

  --check   write nothing; exit with 1 if a document differs`

const ROOT = join(import.meta.dir, '../..')
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')
const code = (text: string): string => (text === '' ? '' : `\`${text}\``)

/** A Markdown table, with columns as wide as the formatter makes them. */
function table(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]!.map((_, i) => Math.max(...rows.map((row) => row[i]!.length)))
  const [head, ...body] = rows
  return [head!, widths.map((width) => '-'.repeat(width)), ...body]
    .map((row) => `| ${row.map((cell, i) => cell.padEnd(widths[i]!)).join(' | ')} |`)
    .join('\n')
}

const settings = (): string =>
  table([
    ['variable', 'default', 'meaning'],
    ...describeSettings().map(({ name, fallback, meaning }) => [code(name), code(fallback), meaning]),
  ])

const metrics = (): string =>
  table([
    ['metric', 'type', 'meaning', 'when to act'],
    ...Object.entries<Metric>(METRICS).map(([name, { type, help, act = '' }]) => {
      const alerts = OBSERVED[name]?.alerts ?? []
      return [code(name), type, help, alerts.map((alert) => alert.name).join(', ') || act]
    }),
  ])

/** The layers, each with the subject of its README's heading. */
const layers = (): string =>
  LAYERS.map((layer, i) => {
    const [, subject] = /^# \w+: (.+)\n/.exec(read(`shared/${layer}/README.md`)) ?? []
    if (subject === undefined) throw new Error(`shared/${layer}/README.md must begin with “# ${layer}: …”`)
    return `${i + 1}. [\`${layer}\`](${layer}/README.md): ${subject}`
  }).join('\n')

/** The first sentence of a file's opening comment. */
function firstSentence(path: string): string {
  const pattern = extname(path) === '.lua' ? /^((?:--.*\n)+)/ : /^\/\*\*([^]*?)\*\//
  const [, comment = ''] = pattern.exec(read(path)) ?? []
  const text = comment
    .replaceAll(/^ *(?:\*|--) ?/gm, '')
    .replaceAll(/\s+/g, ' ')
    .trim()
  const [, sentence] = /^(.+?)\.(?: |$)/.exec(text) ?? []
  if (sentence === undefined) throw new Error(`${path} must begin with a comment`)
  return sentence
}

const checkIn = (): string =>
  checkInPath()
    .map(({ title, steps }) => {
      const lines = steps.map(
        ({ path, depth }) => `${'  '.repeat(depth)}- ${code(path)}: ${firstSentence(path)}`,
      )
      return `${title}:\n\n${lines.join('\n')}`
    })
    .join('\n\n')

/** The fields of a JSON schema, at any depth. */
function fieldsOf(schema: unknown, found = new Set<string>()): Set<string> {
  if (typeof schema !== 'object' || schema === null) return found
  const {
    properties,
    enum: _values,
    const: _value,
    required: _names,
    ...rest
  } = schema as Record<string, unknown>
  for (const [name, field] of Object.entries(properties ?? {})) {
    found.add(name)
    fieldsOf(field, found)
  }
  for (const part of Object.values(rest)) fieldsOf(part, found)
  return found
}

/** Fields of the answers that anyone may request, by operation. */
export const publicFields = (): ReadonlyMap<string, ReadonlySet<string>> =>
  new Map(
    ENDPOINTS.filter(({ access }) => access === 'public' || access === 'optional').map(({ id, data }) => [
      id,
      fieldsOf(z.toJSONSchema(data, { unrepresentable: 'any', io: 'output' })),
    ]),
  )

function publicAnswers(): string {
  const declared = publicFields()
  const callOf = new Map(
    ENDPOINTS.map(({ id, method, path }) => [id, `${method} ${path.replace('/api/event/', '')}`]),
  )
  return PUBLIC_ANSWERS.map(({ answers, fields, reveals }) => {
    const ids = answers.split(' ')
    const names = fields?.split(' ') ?? [...new Set(ids.flatMap((id) => [...(declared.get(id) ?? [])]))]
    const calls = ids.map((id) => code(callOf.get(id) ?? id)).join(', ')
    return `- ${calls}\n  - Fields: ${names.map(code).join(' ') || 'none'}\n  - Reveals ${reveals}.`
  }).join('\n')
}

const GENERATED = '`bun run references` generates this file from the code; do not edit it.'

/** The generated documents, by path. */
export const REFERENCES: Readonly<Record<string, () => string>> = {
  'services/REFERENCE.md': () => `# Settings and metrics

${GENERATED}

## Settings

Each setting is an environment variable, or \`<NAME>_FILE\`, the path of a file with the value. How they are used:
[handbook](README.md#settings).

${settings()}

## Metrics

Each service answers \`/metrics\` on its own port ([how to collect them](README.md#metrics)). Names in the last column are
alerts of the [runbook](RUNBOOK.md).

${metrics()}
`,
  'shared/REFERENCE.md': () => `# Layers, check-in path, public answers

${GENERATED}

## Layers

From bottom to top. A layer imports only layers with a lower number, without cycles; \`client\` imports none.

${layers()}

## The path of a check-in

A file imports the files indented below it. Rules of one value, tables, and tools that know no point are left out.

${checkIn()}

## What anyone can read

Every field of every answer that needs no token, and what it reveals about where and when a pilgrim is. _Proof_ is the
pilgrim’s ID token or, with open identity, an id that an app made. Headers are the same for everyone, plus an \`ETag\` of
the content and the caller’s limits. The time and the size of an answer depend on its content and on the number of
pending points: an expensive profile reveals that this phone has sent much since the last flush, not where.

${publicAnswers()}
`,
}

/** Writes the documents; with `--check` reports those that are not as the code has them, and exits with 1. */
async function run(): Promise<void> {
  const { values } = readCommandLine(USAGE, { check: { type: 'boolean' } })
  for (const [path, text] of Object.entries(REFERENCES)) {
    if (!values.check) await Bun.write(join(ROOT, path), text())
    else if (read(path) !== text()) {
      process.stderr.write(
        `${path} is not as the code has it: run \`bun run references\` and commit the result\n`,
      )
      process.exitCode = 1
    }
  }
}

if (import.meta.main) await run()
