/** Every endpoint that acts for a pilgrim has a rule for claims, and follows it. */
import { expect, test } from 'bun:test'
import { actsForPilgrim, endpointsOf } from '#shared/contracts/endpoint.ts'
import { ENDPOINTS } from '#shared/contracts/endpoints.ts'
import { Refusal } from '#shared/runtime/refusal.ts'
import { CLAIM_RULES, checkClaim, expectClaimRule, isClaim } from '#shared/service/security/claims.ts'
import { newAppId, newPilgrimId } from '#tests/helpers/test-stack.ts'
import { z } from 'zod'

const acting = ENDPOINTS.filter(actsForPilgrim)

test('every endpoint that acts in a pilgrim’s name has a rule, and no other has one', () => {
  expect(Object.keys(CLAIM_RULES).sort()).toEqual(acting.map(({ id }) => id).sort())
  const forgotten = endpointsOf('admin')('POST /api/event/forgotten', {
    id: 'forget',
    summary: '',
    caller: 'body',
    data: z.object({}),
  })
  expect(() => expectClaimRule(forgotten)).toThrow('CLAIM_RULES')
})

test('a claim is refused what reveals or takes away; proof is not', () => {
  const refused = (userId: string, identity: 'open' | 'line', body: object) =>
    acting.flatMap((endpoint) => {
      try {
        checkClaim({ identity }, endpoint, userId, body)
        return []
      } catch (error) {
        expect(error).toBeInstanceOf(Refusal)
        return [endpoint.id]
      }
    })
  const [claim, app] = [newPilgrimId(), newAppId()]
  expect([isClaim({ identity: 'open' }, claim), isClaim({ identity: 'line' }, claim)]).toEqual([true, false])
  expect(refused(app, 'open', { live_hours: 1 })).toEqual([])
  expect(refused(claim, 'line', { live_hours: 1 })).toEqual([])
  const always = Object.keys(CLAIM_RULES).filter((id) => CLAIM_RULES[id] === 'refused')
  expect(refused(claim, 'open', {}).sort()).toEqual(always.sort())
  expect(refused(claim, 'open', { live_hours: 1 })).toContain('createShare')
})
