/**
 * A crowd that looks at the map, in a process of its own. Arguments: the address, the file of the certificate to
 * trust, reads a second. Each looks again as browsers do, with the tag of what it has. Ends with its input.
 */
import { readFileSync } from 'node:fs'
import { startSteady } from './steady.ts'

const [url, caFile, rate] = process.argv.slice(2)
const ca = readFileSync(caFile!, 'utf8')
const READERS = 400
const tags = new Map<number, string>()

const crowd = startSteady(Number(rate), async (n) => {
  const tag = tags.get(n % READERS)
  const headers: Record<string, string> = tag === undefined ? {} : { 'If-None-Match': tag }
  const response = await fetch(`${url}/api/event/data`, { headers, tls: { ca } })
  await response.arrayBuffer()
  tags.set(n % READERS, response.headers.get('etag') ?? '')
  return response.status === 200 || response.status === 304
})
for await (const _ of Bun.stdin.stream());
await crowd.stop()
console.log(JSON.stringify(crowd.take()))
