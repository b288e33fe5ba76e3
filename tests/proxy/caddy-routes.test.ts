/** The Caddyfile routes each path to the service that the table of endpoints names. */
import { beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { z } from 'zod'
import { ENDPOINTS } from '#shared/contracts/endpoints.ts'
import { commandPath } from '#tests/helpers/programs.ts'
import { describeOnServers } from '#tests/helpers/suite.ts'

const ROOT = join(import.meta.dir, '../..')

/** The relevant part of Caddy's JSON configuration: path matchers, nested routes, upstreams. */
interface Route {
  readonly match?: readonly { readonly path?: readonly string[] }[]
  readonly handle?: readonly Handler[]
}
interface Handler {
  readonly handler: string
  readonly routes?: readonly Route[]
  readonly upstreams?: readonly { readonly dial: string }[]
  readonly dynamic_upstreams?: { readonly name: string }
}
const Adapted = z.object({
  apps: z.object({
    http: z.object({ servers: z.record(z.string(), z.object({ routes: z.custom<Route[]>() })) }),
  }),
})

let routes: readonly Route[]

/** Caddy's path patterns as the Caddyfile uses them: exact, or with a star at the end. */
const covers = (pattern: string, path: string): boolean =>
  pattern.endsWith('*') ? path.startsWith(pattern.slice(0, -1)) : pattern === path

/**
 * The service that gets a path: the first matching route with a response; `refused` if Caddy responds itself.
 */
function serviceOf(path: string, among: readonly Route[] = routes): string | undefined {
  for (const { match, handle = [] } of among) {
    const patterns = match?.flatMap((set) => set.path ?? [])
    if (patterns?.length && !patterns.some((pattern) => covers(pattern, path))) continue
    for (const { handler, routes: nested = [], upstreams, dynamic_upstreams: found } of handle) {
      if (handler === 'error' && patterns?.length) return 'refused'
      if (handler === 'reverse_proxy') return found?.name ?? upstreams![0]!.dial.split(':')[0]
      const service = serviceOf(path, nested)
      if (service !== undefined) return service
    }
  }
  return undefined
}

describeOnServers('routes of the Caddyfile', () => {
  beforeAll(() => {
    const adapt = Bun.spawnSync(
      [commandPath('caddy'), 'adapt', '--adapter', 'caddyfile', '--config', join(ROOT, 'Caddyfile')],
      { env: { ...process.env, PRIMARY_HOST: 'primary.example', ALIAS_HOST: 'alias.example' } },
    )
    expect(adapt.stderr.toString()).not.toContain('Error')
    const { servers } = Adapted.parse(JSON.parse(adapt.stdout.toString())).apps.http
    routes = Object.values(servers)[0]!.routes
  })

  test.each(ENDPOINTS.map(({ method, path, service }) => [method, path, service] as const))(
    '%s %s is answered by %s',
    (_method, path, service) => {
      expect(serviceOf(path.replaceAll(/:\w+/g, 'Some.Name-1'))).toBe(service)
    },
  )

  test.each([
    '//',
    '/favicon.ico',
    '/api/event/',
    '/api/event/no-such-thing',
    '/api/event/admin/no-such-thing',
  ])('%s, which nobody has, is refused by admin like every unknown path', (path) => {
    expect(serviceOf(path)).toBe('admin')
  })

  test.each(['/livez', '/readyz', '/metrics'])('%s cannot be reached through the proxy', (path) => {
    expect(serviceOf(path)).toBe('refused')
    expect(serviceOf(`${path}/`)).toBe('refused')
  })
})
