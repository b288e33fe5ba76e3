/** Opens a world, or describes the same in both. */
import { afterAll, beforeAll, describe } from 'bun:test'
import { readFileSync } from 'node:fs'
import type { Environment } from '#shared/config.ts'
import { startEmbedded } from './embedded.ts'
import { describeOnServers } from './suite.ts'
import { SETTINGS, type World } from './world.ts'
import { openRealWorld } from './world-real.ts'

/** Bound of opening a world, and of closing it. */
export const WORLD_MS = 60_000

/** Opens the embedded world. */
export async function openEmbeddedWorld(settings: Environment = {}): Promise<World> {
  const run = await startEmbedded({ ...SETTINGS, ...settings })
  const ca = readFileSync(run.caFile, 'utf8')
  const port = Number(new URL(run.url).port)
  return {
    kind: 'embedded',
    port,
    ca,
    fetch: (path, init, host = 'localhost') =>
      fetch(`https://${host}:${port}${path}`, { ...init, tls: { ca } }),
    async close() {
      await run.stop()
      run.remove()
    },
  }
}

/**
 * Describes the same in both worlds, each opened once for the whole block; the real one is left out where no
 * servers run.
 */
export function describeWorlds(
  name: string,
  tests: (world: World) => void,
  settings: Environment = {},
): void {
  const open = { embedded: openEmbeddedWorld, real: () => openRealWorld({ settings }) }
  for (const kind of ['embedded', 'real'] as const)
    (kind === 'real' ? describeOnServers : describe)(`${name}, ${kind}`, () => {
      let opened: World | undefined
      beforeAll(async () => {
        opened = await (kind === 'real' ? open.real() : open.embedded(settings))
      }, WORLD_MS)
      afterAll(async () => opened?.close(), WORLD_MS)
      tests(lazily(kind, () => opened))
    })
}

/** Tests are collected before their world is open. */
function lazily(kind: World['kind'], opened: () => World | undefined): World {
  const now = (): World => {
    const world = opened()
    if (world === undefined) throw new Error(`the ${kind} world is not open`)
    return world
  }
  return {
    kind,
    get port() {
      return now().port
    },
    get ca() {
      return now().ca
    },
    fetch: (...args) => now().fetch(...args),
    close: () => now().close(),
  }
}
