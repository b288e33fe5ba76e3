/** Access: every endpoint without a token, with a wrong one, and with one of each tier. */
import { describe, expect, test } from 'bun:test'
import { ACCESS_LEVEL, ROLE_LEVEL } from '#shared/service/security/admin-auth.ts'
import type { Endpoint } from '#shared/contracts/endpoint.ts'
import { ENDPOINTS } from '#shared/contracts/endpoints.ts'
import type { Role } from '#shared/contracts/fields.ts'
import { admin } from '#tests/helpers/test-stack.ts'
import { describeBothStacks } from '#tests/helpers/open-test-stack.ts'

const PARAMETERS: Record<string, string> = {
  userId: 'somebody',
  file: 'nothing.png',
  id: '999999999',
  key: 'nobodys',
  fingerprint: '0123456789ab',
  language: 'nl',
}
const pathOf = ({ path }: Endpoint): string =>
  path.replaceAll(/:(\w+)/g, (_, name: string) => {
    const value = PARAMETERS[name]
    if (value === undefined) throw new Error(`the access table does not know how to fill :${name} of ${path}`)
    return value
  })

const nameOf = ({ method, path }: Endpoint): string => `${method} ${path}`

/** Endpoints without a body: a permitted call would end the event for the other tests. */
const UNDONE_BY_NOTHING = new Set(['POST /api/event/admin/end-activity'])

/**
 * Operations for volunteers, and those for owners only; all others with a token need a manager. Public ones
 * are listed in shared/REFERENCE.md (public-account.test.ts).
 */
const VOLUNTEER = [
  'GET /api/event/auth/role',
  'GET /api/event/admin/status',
  'GET /api/event/admin/timeline',
  'GET /api/event/admin/clusters',
  'GET /api/event/admin/last-hour',
  'GET /api/event/line-usage',
]
const OWNER = [
  'GET /api/event/admin/audit',
  'GET /api/event/admin/tokens',
  'POST /api/event/admin/tokens',
  'DELETE /api/event/admin/tokens/:fingerprint',
  'PUT /api/event/admin/notifications',
  'GET /api/event/admin/settings',
  'PUT /api/event/admin/settings/name',
  'PUT /api/event/admin/settings/contact',
  'PUT /api/event/admin/settings/languages',
  'PUT /api/event/admin/settings/messages',
  'PUT /api/event/admin/settings/notice',
  'PUT /api/event/admin/settings/rehearsal',
  'PUT /api/event/admin/settings/route',
  'PUT /api/event/admin/settings/survey',
  'PUT /api/event/admin/settings/translation',
  'GET /api/event/admin/settings/translations/:language',
  'PUT /api/event/admin/settings/words',
  'GET /api/event/admin/users/:userId/export',
  'DELETE /api/event/admin/users/:userId',
  'DELETE /api/event/admin/dead-letters/:id',
  'POST /api/event/admin/reset',
]
const OPTIONAL = [
  'GET /api/event/data',
  'GET /api/event/user/:userId',
  'GET /api/event/feedback',
  'POST /api/event/og-image',
]

test('every endpoint has the documented access', () => {
  for (const endpoint of ENDPOINTS) {
    const name = nameOf(endpoint)
    const expected = VOLUNTEER.includes(name)
      ? 'volunteer'
      : OWNER.includes(name)
        ? 'owner'
        : OPTIONAL.includes(name)
          ? 'optional'
          : name.includes('/admin/') || endpoint.access !== 'public'
            ? 'manager'
            : 'public'
    expect({ name, access: endpoint.access }).toEqual({ name, access: expected })
  }
})

test('every operator’s endpoint is charged to the limit of the token', () => {
  for (const endpoint of ENDPOINTS)
    if (ACCESS_LEVEL[endpoint.access] > 0)
      expect({ name: nameOf(endpoint), limit: endpoint.limit }).toEqual({
        name: nameOf(endpoint),
        limit: 'admin',
      })
})

describeBothStacks('access', (stack) => {
  const call = (endpoint: Endpoint, headers: Record<string, string>) =>
    // No endpoint accepts this body: a request that passes the token check gets 400 and changes nothing.
    stack.fetch(pathOf(endpoint), {
      method: endpoint.method,
      headers,
      ...(endpoint.method === 'GET' ? {} : { body: '[]' }),
    })

  // Wrong tokens delay their address, so all are tried concurrently.
  test('with a wrong token', async () => {
    const answers = await Promise.all(
      ENDPOINTS.map(async (endpoint) => ({
        name: nameOf(endpoint),
        access: endpoint.access,
        status: (await call(endpoint, { 'X-Admin-Token': 'wrong' })).status,
      })),
    )
    for (const { name, access, status } of answers)
      if (access !== 'public') expect({ name, status }).toEqual({ name, status: 401 })
      else
        expect({ name, refused: status === 401 && !name.includes('webhook') }).toEqual({
          name,
          refused: false,
        })
  })

  describe.each(ENDPOINTS.map((endpoint) => [nameOf(endpoint), endpoint] as const))(
    '%s',
    (name, endpoint) => {
      const needed = ACCESS_LEVEL[endpoint.access]

      test('without a token', async () => {
        const { status } = await call(endpoint, {})
        if (needed > 0) expect(status).toBe(401)
        else expect([401, 403]).not.toContain(name.includes('webhook') ? 200 : status)
      })

      for (const role of ['volunteer', 'manager', 'owner'] as const satisfies readonly Role[]) {
        const passes = ROLE_LEVEL[role] >= needed
        if (passes && UNDONE_BY_NOTHING.has(name)) continue
        test(`with the token of a ${role}`, async () => {
          const { status, ok, headers } = await call(endpoint, admin(role))
          // Names and numbers of pilgrims must not stay in a browser's cache.
          if (ok && needed > 0) expect(headers.get('cache-control')).toMatch(/no-store|private, no-cache/)
          if (passes) expect([401, 403]).not.toContain(name.includes('webhook') ? 200 : status)
          else expect(status).toBe(403)
        })
      }
    },
  )
})
