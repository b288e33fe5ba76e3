/** Response bodies of downloads, which may be too long for the memory of a process. */
import type { ServiceContext } from '#shared/service/context.ts'
import { errorFields } from '#shared/runtime/log.ts'

/** Rows read page by page. @param read reads the page after a row; undefined: the first */
export async function* rowsByPage<Row>(
  size: number,
  read: (last: Row | undefined) => Promise<readonly Row[]>,
): AsyncGenerator<Row> {
  for (let last: Row | undefined; ;) {
    const page = await read(last)
    yield* page
    if (page.length < size) return
    last = page.at(-1)
  }
}

/** Characters read before the answer begins. A shorter download is answered completely, or refused. */
const READ_AHEAD = 1_000_000
/** Characters sent at a time: sending single rows would cost as much each. */
const CHUNK = 64_000
/** The last line of a download that failed midway. It makes JSON and XML invalid, and is a row of a CSV. */
export const BROKEN_OFF = '\r\nINCOMPLETE: this download broke off here. Please make it again.\r\n'

/**
 * A response body of parts. The beginning is read at once, the rest as the client reads it. When a later part fails,
 * the last line of the body says so: a broken connection is not enough, because Caddy before 2.7.6 ends such an answer
 * as if it were complete.
 * @throws the error of a part in the beginning
 */
export async function streamingBody(
  { log }: Pick<ServiceContext, 'log'>,
  parts: AsyncGenerator<string>,
): Promise<string | ReadableStream<Uint8Array<ArrayBuffer>>> {
  let beginning = ''
  while (beginning.length < READ_AHEAD) {
    const { done, value } = await parts.next()
    if (done === true) return beginning
    beginning += value
  }
  const encoder = new TextEncoder()
  return new ReadableStream({
    start(controller) {
      controller.enqueue(encoder.encode(beginning))
    },
    async pull(controller) {
      let text = ''
      let hasEnded = false
      try {
        while (text.length < CHUNK && !hasEnded) {
          const { done, value } = await parts.next()
          if (done === true) hasEnded = true
          else text += value
        }
      } catch (error) {
        log.warn('a download failed on its way', errorFields(error))
        text += BROKEN_OFF
        hasEnded = true
      }
      if (text !== '') controller.enqueue(encoder.encode(text))
      if (hasEnded) controller.close()
    },
    async cancel() {
      await parts.return(undefined)
    },
  })
}
