/** Chooses the bus's driver. */
import type { Bus } from './bus.ts'
import { openEmbeddedBus } from './bus.embedded.ts'
import { openNatsBus } from './bus.nats.ts'

/** Opens the bus that the URL names: `nats://…` (comma-separated), or none: within this process. */
export function openBus(options: {
  readonly url: string
  readonly onError: (error: unknown) => void
}): Promise<Bus> {
  return options.url === '' ? openEmbeddedBus(options) : openNatsBus(options)
}
