/** A check-in of the embedded run over TLS, compared with a bare server over plain HTTP. */
import { startEmbedded } from '#tests/helpers/embedded.ts'
import { moveToCore, SERVED_CORE } from '../load.ts'
import type { Row } from '../measure.ts'
import { closeAll, startBare, UNLIMITED } from '../measured-processes.ts'
import { contender } from './check-in.ts'

export const embedded: Row = {
  id: 'embedded',
  title: 'check-in, embedded run over TLS',
  unit: 'check-ins/s',
  warm: true,
  async open(scale) {
    const run = await startEmbedded(UNLIMITED)
    moveToCore(SERVED_CORE, run.pid)
    const bare = await startBare('check-in')
    return {
      contenders: [
        contender('embedded over TLS', 'ours', { url: run.url, processes: { 'all in one': run.pid } }, scale),
        contender(
          'bare Bun.serve over plain HTTP',
          'limit',
          { url: bare.url, processes: { Bun: bare.pid } },
          scale,
        ),
      ],
      goals: [{ of: 'bare Bun.serve over plain HTTP', atLeast: 0.3 }],
      async close() {
        await Promise.all([run.stop(), closeAll([bare])])
        run.remove()
      },
    }
  },
}
