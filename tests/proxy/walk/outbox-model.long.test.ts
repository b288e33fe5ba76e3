/**
 * Ten thousand random walks of the model, different in each run. `OUTBOX_MODEL_SEED` repeats an earlier run.
 */
import { test } from 'bun:test'
import { walks } from './outbox-model.ts'

const SEED = Number(process.env.OUTBOX_MODEL_SEED ?? Date.now() % 2 ** 31)
const SLICES = 10

test.each(Array.from({ length: SLICES }, (_, slice) => SEED + slice))(
  'a thousand walks of the seed %p lose, double and misplace no entry',
  (seed) => walks(1_000, seed),
  300_000,
)
