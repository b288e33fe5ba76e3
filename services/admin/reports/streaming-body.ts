/** Response bodies of downloads, which may be longer than what a process should hold in memory. */
import type { ServiceContext } from '#shared/runtime/context.ts'
import { errorFields } from '#shared/runtime/log.ts'

/** Characters that are read before the answer begins. A shorter download is answered whole, or refused. */
const READ_AHEAD = 1_000_000
/** The last line of a download that failed on its way. It makes JSON and XML invalid, and is a row of a CSV. */
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
      try {
        const { done, value } = await parts.next()
        if (done === true) controller.close()
        else controller.enqueue(encoder.encode(value))
      } catch (error) {
        log.warn('a download failed on its way', errorFields(error))
        controller.enqueue(encoder.encode(BROKEN_OFF))
        controller.close()
      }
    },
    async cancel() {
      await parts.return(undefined)
    },
  })
}
