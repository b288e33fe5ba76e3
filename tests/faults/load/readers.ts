/**
 * A crowd that reads the map, in a process of its own. Arguments: the URL and the file of the certificate to trust.
 * Each line of its input sets the rate in reads per second. Readers send the ETag of their last answer, as browsers
 * do. For each line it prints the figures since the previous line.
 */
import { readFileSync } from 'node:fs'
import { startSteady, type Steady } from './steady.ts'

const [url, caFile] = process.argv.slice(2)
const ca = readFileSync(caFile!, 'utf8')
const READERS = 400
const tags = new Map<number, string>()

async function look(n: number): Promise<boolean> {
  const tag = tags.get(n % READERS)
  const headers: Record<string, string> = tag === undefined ? {} : { 'If-None-Match': tag }
  const response = await fetch(`${url}/api/event/data`, { headers, tls: { ca } })
  await response.arrayBuffer()
  tags.set(n % READERS, response.headers.get('etag') ?? '')
  return response.status === 200 || response.status === 304
}

let crowd: Steady | null = null
for await (const line of console) {
  await crowd?.stop()
  console.log(JSON.stringify(crowd?.take() ?? null))
  crowd = Number(line) > 0 ? startSteady(Number(line), look) : null
}
