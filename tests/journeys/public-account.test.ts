/**
 * The lists of endpoints outside the contracts agree with them: what anybody can read, outages, and the attack on the map.
 */
import { expect, test } from 'bun:test'
import { z } from 'zod'
import { ENDPOINTS } from '#shared/contracts/endpoints.ts'
import { ASKED, LEFT_OUT } from '#tests/tracking/attack.ts'
import { EXCEPTIONS } from './degraded-table.ts'

const HEADING = '### What anybody can read, and what it tells'
const isPublic = ({ access }: { readonly access: string }) => access === 'public' || access === 'optional'

/** The fields of a JSON schema, however deep. */
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

const quoted = (cell: string): string[] => [...cell.matchAll(/`(\w+)`/g)].map(([, word]) => word!)

/** The fields that the list names, by operation. */
async function accounted(): Promise<Map<string, Set<string>>> {
  const text = await Bun.file(new URL('../../shared/README.md', import.meta.url)).text()
  const [, section] = text.split(HEADING)
  const rows = section!
    .split('\n###')[0]!
    .split('\n')
    .filter((line) => line.startsWith('- `'))
  const fields = new Map<string, Set<string>>()
  for (const row of rows) {
    const [answers, names, tells] = row.split(': ')
    expect(tells?.trim()).toBeTruthy()
    for (const id of quoted(answers!)) fields.set(id, new Set([...(fields.get(id) ?? []), ...quoted(names!)]))
  }
  return fields
}

/** Public answers and their fields by the contracts. */
const declared = () =>
  new Map(
    ENDPOINTS.filter(isPublic).map(({ id, data }) => [
      id,
      fieldsOf(z.toJSONSchema(data, { unrepresentable: 'any', io: 'output' })),
    ]),
  )

const READING = ENDPOINTS.filter(({ method }) => method === 'GET')

test('the table of outages names read endpoints only', () => {
  const paths = new Set(READING.map(({ path }) => path))
  expect(Object.keys(EXCEPTIONS).filter((path) => !paths.has(path))).toEqual([])
})

test('the attacker on the map reads every public endpoint, or leaves it out for a reason', () => {
  const paths = READING.filter(isPublic).map(({ path }) => path)
  expect(paths.sort()).toEqual([...ASKED, ...LEFT_OUT].sort())
})

test('every public answer is in the list, with each of its fields', async () => {
  const list = await accounted()
  const missing = [...declared()].flatMap(([id, fields]) =>
    list.has(id)
      ? [...fields].filter((field) => !list.get(id)!.has(field)).map((field) => `${id}.${field}`)
      : [id],
  )
  expect(missing).toEqual([])
})

test('the list names no answer and no field that there is not', async () => {
  const answers = declared()
  const all = new Map(ENDPOINTS.map(({ id }) => [id, true]))
  for (const [id, fields] of await accounted()) {
    expect({ id, known: all.has(id) }).toEqual({ id, known: true })
    expect({ id, isPublic: answers.has(id) }).toEqual({ id, isPublic: true })
    expect(fields.size).toBeGreaterThan(0)
  }
  const used = new Set([...answers.values()].flatMap((fields) => [...fields]))
  const unknown = [...(await accounted()).values()]
    .flatMap((fields) => [...fields])
    .filter((field) => !used.has(field))
  expect([...new Set(unknown)]).toEqual([])
})
