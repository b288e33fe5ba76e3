/**
 * Actions of the phone on the app: it closes the database, ends the page, changes the clock. No unfinished
 * input is lost.
 */
import { describeOnServers } from '#tests/helpers/suite.ts'
import { clockTests } from './walk-clock.suite.ts'
import { draftTests } from './walk-drafts.suite.ts'
import { walkApp } from './walk-harness.ts'
import { installTests } from './walk-install.suite.ts'
import { storageTests } from './walk-storage.suite.ts'

describeOnServers('the app is put away and comes back', () => {
  const app = walkApp({ EVENT_LIMIT_CHECKIN: '1000' })
  storageTests(app)
  clockTests(app)
  installTests(app)
  // Last, because they create a new release.
  draftTests(app)
})
