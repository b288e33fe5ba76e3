/** Two hours on foot, with open identity; tests/browser/walk-line.test.ts walks them with LINE's. */
import { test } from 'bun:test'
import { describeOnServers } from '#tests/helpers/suite.ts'
import { TWO_HOURS_MS, walkTwoHours } from './two-hours.ts'
import { firstMinute, userIdOf, walkApp } from './walk-harness.ts'

const SETTINGS = {
  EVENT_NAME: 'Two hours on foot',
  EVENT_LIMIT_CHECKIN: '1000',
  EVENT_LIMIT_SYNC: '1000',
  EVENT_LIMIT_USER_WRITE: '1000',
}

describeOnServers('two hours', () => {
  const app = walkApp(SETTINGS)

  test(
    'of walking end with exactly the km of a plain replay, and with every check-in once',
    () =>
      walkTwoHours(app, {
        async begin(page) {
          await firstMinute(page, 'Walker')
          return userIdOf(page)
        },
        proof: async () => ({}),
      }),
    TWO_HOURS_MS,
  )
})
