/** Opens the bus with the driver that the URL selects. */
import type { Bus } from './bus.ts'
import { openEmbeddedBus } from './bus.embedded.ts'
import { openNatsBus } from './bus.nats.ts'

export { natsServers } from './bus.nats.ts'

/** Opens the bus at the URL: `nats://…` (comma-separated servers); empty: a bus within this process. */
export function openBus(options: {
  readonly url: string
  readonly onError: (error: unknown) => void
}): Promise<Bus> {
  return options.url === '' ? openEmbeddedBus(options) : openNatsBus(options)
}
