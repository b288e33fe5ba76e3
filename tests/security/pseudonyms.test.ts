/** Pseudonyms of ids that an app made. */
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { appIdOf } from '#shared/core/rules/app-id.ts'
import { createPseudonyms } from '#shared/service/security/pseudonyms.ts'

const token = (role: 'owner' | 'manager', value: string) => ({ name: role, role, value })
const TOKENS = [token('owner', 'a long token of an owner'), token('manager', 'a long token of a manager')]
const open = createPseudonyms({ identity: 'open', tokens: TOKENS })
const ids = fc.uint8Array({ minLength: 16, maxLength: 16 }).map((bytes) => appIdOf(bytes))
const [MANAGER, OWNER] = [{ level: 2 }, { level: 3 }] as const

test('a pseudonym is its id for who has the key, and nothing of it for who has not', () => {
  const sameKey = createPseudonyms({
    identity: 'open',
    tokens: [TOKENS[0]!, token('manager', 'another token of one')],
  })
  const otherKey = createPseudonyms({
    identity: 'open',
    tokens: [token('owner', 'a new token of the owner')],
  })
  fc.assert(
    fc.property(ids, (id) => {
      const request = { user_id: id, inner: { user_ids: [id, 'U1'], search: `about ${id}.` } }
      const hidden = open.hide(JSON.stringify(request), MANAGER)
      expect(hidden).not.toContain(id)
      expect(open.reveal(JSON.parse(hidden))).toEqual(request)
      expect(sameKey.reveal(JSON.parse(hidden))).toEqual(request)
      expect(otherKey.reveal(JSON.parse(hidden))).toEqual(JSON.parse(hidden))
      // Texts may be read by everyone, such as the message of a pause.
      const words = JSON.parse(open.hide(JSON.stringify({ message: id, text: [id] }), MANAGER)) as object
      expect(open.reveal(words)).toEqual(words)
    }),
  )
})

test('owners read ids, and with LINE everybody does, because an id opens nothing', () => {
  const id = appIdOf(new Uint8Array(16))
  const line = createPseudonyms({ identity: 'line', tokens: TOKENS })
  expect([open.hide(id, OWNER), open.hide(id, null), line.hide(id, MANAGER)]).toEqual([id, id, id])
})

test.each(['p-', `p-${'0'.repeat(42)}`, `p-${'g'.repeat(42)}`, 'U0123456789abcdef0123456789abcdef', ''])(
  '%s is no pseudonym of ours, and stays',
  (user_id) => expect(open.reveal({ user_id })).toEqual({ user_id }),
)

test('a cursor is accepted as it was sealed, and no other', () => {
  const cursor = encodeURIComponent('["users","w-1"]')
  const sealed = open.seal(cursor)
  expect(open.open(sealed)).toBe(cursor)
  expect(open.open(decodeURIComponent(sealed))).toBe('["users","w-1"]')
  const otherKey = createPseudonyms({
    identity: 'open',
    tokens: [token('owner', 'a new token of the owner')],
  })
  const forged = [
    sealed.replace('w-1', 'w-2'),
    `0${sealed}`,
    sealed.slice(32),
    '',
    'é'.repeat(40),
    otherKey.seal(cursor),
  ]
  for (const one of forged) expect(open.open(one)).toBeNull()
})
