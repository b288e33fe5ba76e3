/** Ten thousand walks of the model, others at each run. */
import { test } from 'bun:test'
import { walks } from './outbox-model.ts'

test('no entry is lost, doubled or foreign in ten thousand walks', () => walks(10_000), 1_800_000)
