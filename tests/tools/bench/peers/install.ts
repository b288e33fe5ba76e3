/** Installs the peers into a temporary directory; their packages are not dependencies of the service. */
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { newDirectory, runToEnd } from '#tests/helpers/process.ts'

const PACKAGES = ['fastify@5.12.8', 'pg@8.23.1', 'hono@4.13.19', 'ioredis@6.0.0', '@vercel/og@0.11.1']
const FILES = ['fastify-pg.mjs', 'hono-redis.mjs', 'og.mjs']

let installed: Promise<string> | undefined

async function install(): Promise<string> {
  const dir = await newDirectory('peers')
  await Bun.write(join(dir, 'package.json'), '{"private": true, "type": "module"}')
  await runToEnd([process.execPath, 'add', '--exact', '--cwd', dir, ...PACKAGES])
  for (const file of FILES) copyFileSync(join(import.meta.dir, file), join(dir, file))
  return dir
}

/** The directory of the installed peers, created once per run. @throws if the registry is unreachable */
export const installPeers = (): Promise<string> => (installed ??= install())
