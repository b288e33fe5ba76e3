/** Reads a metric of a process. */

/**
 * The value of the metric with this name.
 * @throws when the process does not have it
 */
export async function readMetric({ url }: { readonly url: string }, name: string): Promise<number> {
  const page = await (await fetch(`${url}/metrics`)).text()
  const value = new RegExp(`^${name}(?:{.*})? ([\\d.e+-]+)$`, 'm').exec(page)?.[1]
  if (value === undefined) throw new Error(`${url} has no metric ${name}`)
  return Number(value)
}
