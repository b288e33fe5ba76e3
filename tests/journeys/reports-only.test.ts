/** Carbon of pilgrims with reports only: the mean counts everyone whom the total counts, erased or not. */
import { expect, test } from 'bun:test'
import { carbonEndpoint } from '#shared/contracts/reports.ts'
import { dataOf } from '#tests/helpers/answers.ts'
import { post } from '#tests/helpers/pilgrim.ts'
import { admin, checkIn, flushed, newPilgrimId } from '#tests/helpers/test-stack.ts'
import { describeBothStacks } from '#tests/helpers/open-test-stack.ts'

describeBothStacks('the mean of carbon', (stack) => {
  const reports = async (userId: string, given: object) =>
    expect((await post(stack, 'user/sync', { user_id: userId, ...given })).status).toBe(200)
  const carbon = async () => {
    // An answer is cached for a second.
    await Bun.sleep(1_100)
    const answer = await stack.fetch('/api/event/admin/carbon', { headers: admin('manager') })
    return dataOf(answer, carbonEndpoint)
  }

  test('is the total divided by everyone whom the total counts', async () => {
    const [walker, guest, driver, silent, gone] = Array.from({ length: 5 }, newPilgrimId)
    expect((await checkIn(stack, walker!)).status).toBe(202)
    await reports(walker!, { consumption: { water: 1 } })
    await reports(guest!, { consumption: { hotel: 1 } })
    await reports(driver!, { transport: { car: 10, walk: 2 } })
    // They add nothing to the total.
    await reports(silent!, { consumption: { water: 0, recycle: 0 }, transport: { car: 0 } })
    await reports(gone!, { consumption: { hotel: 2 } })
    await flushed(stack)
    const before = await carbon()
    expect(before.pilgrims).toBe(4)
    expect(before.mean_kg).toBeCloseTo(before.total_kg / 4, 3)

    for (const userId of [gone!, silent!] as const)
      expect(
        (
          await stack.fetch(`/api/event/admin/users/${userId}`, {
            method: 'DELETE',
            headers: admin('owner'),
          })
        ).status,
      ).toBe(200)
    expect({ ...(await carbon()), as_of: null }).toEqual({ ...before, as_of: null })
  }, 30_000)
})
