/** Matching a path against the table of endpoints. */
import type { Endpoint, ServiceName } from '#shared/contracts/endpoint.ts'
import { ENDPOINTS } from '#shared/contracts/endpoints.ts'

const FIXED = Map.groupBy(
  ENDPOINTS.filter(({ path }) => !path.includes(':')),
  ({ path }) => path,
)
const PATTERNS = ENDPOINTS.filter(({ path }) => path.includes(':')).map((endpoint) => ({
  endpoint,
  pattern: new RegExp(`^${endpoint.path.replaceAll('.', '\\.').replaceAll(/:\w+/g, '[^/]+')}$`),
}))

/** Endpoints of a path, fixed ones first: by the router, what they do not take goes to one with parameters. */
const matching = (path: string): readonly Endpoint[] => [
  ...(FIXED.get(path) ?? []),
  ...PATTERNS.filter(({ pattern }) => pattern.test(path)).map(({ endpoint }) => endpoint),
]

/** The route that a path belongs to, as the table of endpoints writes it: the path itself names people. */
export const routeOf = (path: string, method: string): string => {
  const endpoints = matching(path)
  return (endpoints.find((endpoint) => endpoint.method === method) ?? endpoints[0])?.path ?? 'unknown'
}

/** Methods that a path takes; none where there is no such path. */
export function allowedMethods(path: string): string[] {
  const methods = new Set<string>(matching(path).map(({ method }) => method))
  if (methods.size === 0) return []
  if (methods.has('GET')) methods.add('HEAD')
  return [...methods, 'OPTIONS']
}

/** The service that answers a path; paths that nobody has are the admin service's 404. */
export function serviceOf(path: string, method: string): ServiceName {
  // Fixed addresses come first anyway, and are most of what is asked.
  const fixed = FIXED.get(path)?.find((endpoint) => endpoint.method === method)
  if (fixed !== undefined) return fixed.service
  const endpoints = matching(path)
  const exact = endpoints.find((endpoint) => endpoint.method === method) ?? endpoints[0]
  return exact?.service ?? 'admin'
}
