/** Two hundred random walks of the model; `outbox-model.long.test.ts` runs ten thousand. */
import { test } from 'bun:test'
import { walks } from './outbox-model.ts'

test(
  'no entry is lost, doubled or foreign, and no state is without a way out',
  () => walks(200, 20_260_412),
  60_000,
)
