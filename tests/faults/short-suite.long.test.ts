/** A selection of the faults of `bun run test:faults`, for every test run. */
import { describeFaults } from './suite/describe-faults.ts'
import { FAULTS } from './suite/faults.ts'
import { openTestSystem } from './suite/test-system.ts'

const short = FAULTS.filter((fault) => fault.short === true)
describeFaults('faults', short, openTestSystem, { openMs: 60_000, faultMs: 240_000 })
