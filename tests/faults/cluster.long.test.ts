/** The faults of a cluster, of `bun run test:faults`. */
import { openClusterSystem } from './suite/cluster.ts'
import { CLUSTER_FAULTS } from './suite/cluster-faults.ts'
import { describeFaults } from './suite/describe-faults.ts'

describeFaults('faults of a cluster', CLUSTER_FAULTS, openClusterSystem, {
  openMs: 120_000,
  faultMs: 300_000,
})
