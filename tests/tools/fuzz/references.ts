/** The document with each reference replaced by its target, for readers that take one schema at a time. */

/** @param document an OpenAPI document whose components do not refer to themselves */
export function withoutReferences<T>(document: T): T {
  const follow = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null) return value
    if (Array.isArray(value)) return value.map(follow)
    const { $ref, ...beside } = value as Record<string, unknown>
    const entries = Object.entries(beside).map(([key, one]) => [key, follow(one)] as const)
    if (typeof $ref !== 'string') return Object.fromEntries(entries)
    return { ...(follow(targetOf($ref)) as object), ...Object.fromEntries(entries) }
  }
  const targetOf = (to: string): unknown =>
    to
      .slice(2)
      .split('/')
      .reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], document)
  return follow(document) as T
}
