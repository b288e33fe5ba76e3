/** Matches paths against the table of endpoints. */
import type { Endpoint, ServiceName } from '#shared/contracts/endpoint.ts'
import { ENDPOINTS } from '#shared/contracts/endpoints.ts'

const FIXED = Map.groupBy(
  ENDPOINTS.filter(({ path }) => !path.includes(':')),
  ({ path }) => path,
)
const PATTERNS = ENDPOINTS.filter(({ path }) => path.includes(':')).map((endpoint) => ({
  endpoint,
  pattern: new RegExp(
    `^${endpoint.path.replaceAll('.', '\\.').replaceAll(/:\w+/g, '[^/]+')}${endpoint.slash ? '/?' : ''}$`,
  ),
}))

/** Endpoints that match a path, fixed paths before those with parameters, as in the router. */
const matching = (path: string): readonly Endpoint[] => [
  ...(FIXED.get(path) ?? []),
  ...PATTERNS.filter(({ pattern }) => pattern.test(path)).map(({ endpoint }) => endpoint),
]

/** The endpoint of a request, or another one of its path. */
const endpointOf = (path: string, method: string): Endpoint | undefined => {
  // Fixed paths have precedence and are the most frequent ones.
  const fixed = FIXED.get(path)?.find((endpoint) => endpoint.method === method)
  if (fixed !== undefined) return fixed
  const endpoints = matching(path)
  return endpoints.find((endpoint) => endpoint.method === method) ?? endpoints[0]
}

/** The path pattern of a request, for logs and metrics: the path itself may contain user ids. */
export const routeOf = (path: string, method: string): string => endpointOf(path, method)?.path ?? 'unknown'

/** Methods of a path; empty for an unknown path. */
export function allowedMethods(path: string): string[] {
  const methods = new Set<string>(matching(path).map(({ method }) => method))
  if (methods.size === 0) return []
  if (methods.has('GET')) methods.add('HEAD')
  return [...methods, 'OPTIONS']
}

/** The service of a path; the admin service answers unknown paths with 404. */
export const serviceOf = (path: string, method: string): ServiceName =>
  endpointOf(path, method)?.service ?? 'admin'
