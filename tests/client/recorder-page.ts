/** The page of a recorder, as an app has it. */

/** The script of the page. Its address names the pilgrim and the service: `#user,https://…`. */
export const PAGE = `
  import { createClient, createTrackQueue } from '${import.meta.dir}/../../shared/client/index.ts'
  import { openIndexedDbStore } from '${import.meta.dir}/../../shared/client/queue/indexed-db-store.ts'
  const [userId, baseUrl] = location.hash.slice(1).split(',')
  const client = createClient({ baseUrl, identity: { userId } })
  const queue = createTrackQueue({ client, store: await openIndexedDbStore(), limits: { collectMs: 200, points: 3 } })
  queue.start()
  globalThis.queue = queue
`

interface PageQueue {
  readonly state: {
    readonly waiting: { readonly checkIns: number; readonly points: number }
    readonly why: string
  }
  record(points: object): Promise<{ readonly ok: boolean }>
  checkIn(point: object): Promise<{ readonly ok: boolean }>
}
declare global {
  /** The queue of the page, as the functions see it that run there. */
  var queue: PageQueue
}
