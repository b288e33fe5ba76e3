/** Prints what a child of the same user can read of this process's environment. */
import { hideFromChildren } from '#shared/runtime/child-process.ts'

if (process.argv[2] === 'hide') hideFromChildren()
const read = Bun.spawnSync(['cat', `/proc/${process.pid}/environ`], { env: {} })
process.stdout.write(`exit ${read.exitCode}: ${read.stdout.toString()}`)
