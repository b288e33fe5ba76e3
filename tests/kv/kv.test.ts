/** One suite for every driver of the kv port: embedded, Redis, and a Redis Cluster with 16 partitions. */
import { afterAll, beforeAll, describe } from 'bun:test'
import { admissionSuite } from './admission.suite.ts'
import { instantsSuite } from './instants.suite.ts'
import { bufferSuite } from './buffer.suite.ts'
import { kvDrivers } from './drivers.ts'
import { booksSuite } from './counters.suite.ts'
import { erasedSuite } from './erased.suite.ts'
import { verbsSuite } from './verbs.suite.ts'

for (const driver of kvDrivers())
  describe(driver.name, () => {
    beforeAll(() => driver.start())
    afterAll(() => driver.stop())
    admissionSuite(driver)
    instantsSuite(driver)
    bufferSuite(driver)
    booksSuite(driver)
    erasedSuite(driver)
    verbsSuite(driver)
  })
