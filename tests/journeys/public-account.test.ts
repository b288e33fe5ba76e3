/**
 * The lists of endpoints outside the contracts agree with them: public answers, outages, and the attack on
 * the map.
 */
import { expect, test } from 'bun:test'
import { ENDPOINTS } from '#shared/contracts/endpoints.ts'
import { ASKED, LEFT_OUT } from '#tests/tracking/attack.ts'
import { PUBLIC_ANSWERS } from '#tests/documents/public-answers.ts'
import { publicFields } from '#tests/documents/references.ts'
import { EXCEPTIONS } from './degraded-table.ts'

const isPublic = ({ access }: { readonly access: string }) => access === 'public' || access === 'optional'

const READING = ENDPOINTS.filter(({ method }) => method === 'GET')

test('the table of outages names read endpoints only', () => {
  const paths = new Set(READING.map(({ path }) => path))
  expect(Object.keys(EXCEPTIONS).filter((path) => !paths.has(path))).toEqual([])
})

test('the attacker on the map reads every public endpoint, or leaves it out for a reason', () => {
  const paths = READING.filter(isPublic).map(({ path }) => path)
  expect(paths.sort()).toEqual([...ASKED, ...LEFT_OUT].sort())
})

test('every public answer and each of its fields is in the list, and nothing else', () => {
  const declared = publicFields()
  for (const [id, fields] of declared) {
    const entries = PUBLIC_ANSWERS.filter(({ answers }) => answers.split(' ').includes(id))
    const isWhole = entries.some((entry) => entry.fields === undefined)
    const listed = new Set(isWhole ? fields : entries.flatMap((entry) => entry.fields!.split(' ')))
    const missing = [...fields].filter((field) => !listed.has(field))
    expect({ id, entries: entries.length > 0, missing }).toEqual({ id, entries: true, missing: [] })
  }
  for (const { answers, fields } of PUBLIC_ANSWERS) {
    const known = new Set(answers.split(' ').flatMap((id) => [...(declared.get(id) ?? [])]))
    const unknown = (fields?.split(' ') ?? []).filter((field) => !known.has(field))
    const notPublic = answers.split(' ').filter((id) => !declared.has(id))
    expect({ answers, unknown, notPublic }).toEqual({ answers, unknown: [], notPublic: [] })
  }
})
