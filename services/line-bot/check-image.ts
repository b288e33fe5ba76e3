/** An image that LINE would not show is found before it is sent: LINE itself says nothing. */
import { invalid } from '#shared/errors.ts'

/** "Image message": the preview is a JPEG or PNG of at most 1 MB, and the same address serves as both. */
const MAX_BYTES = 1_000_000
const FETCH_MS = 5_000

/** @throws Refusal 400 for an address that gives no JPEG or PNG of at most 1 MB within 5 s */
export async function checkImage(url: string): Promise<void> {
  let bytes: Uint8Array<ArrayBuffer>
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(FETCH_MS) })
    if (!response.url.startsWith('https://')) throw new Error('it leads to an address without https')
    if (!response.ok) throw new Error(`it answers ${response.status}`)
    bytes = await readAtMost(response)
  } catch (error) {
    throw invalid(`image_url: can not be fetched: ${error instanceof Error ? error.message : String(error)}`)
  }
  if (bytes.length > MAX_BYTES) throw invalid('image_url: is larger than 1 MB, which LINE does not show')
  const format = await formatOf(bytes)
  if (format !== 'jpeg' && format !== 'png') throw invalid('image_url: is neither JPEG nor PNG')
}

/** Stops reading once it is too much. */
async function readAtMost(response: Response): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk)
    size += chunk.length
    if (size > MAX_BYTES) break
  }
  return Buffer.concat(chunks)
}

async function formatOf(bytes: Uint8Array<ArrayBuffer>): Promise<string | null> {
  try {
    return (await new Bun.Image(bytes).metadata()).format
  } catch {
    // Not an image of any kind.
    return null
  }
}
