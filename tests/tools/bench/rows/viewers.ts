/** Viewers of the public map behind Caddy while the crowd walks: bytes and CPU per viewer and minute. */
import type { Row, Sample, Scale } from '../measure.ts'
import { type Arrangements, measureViewers, type Watched } from '../viewers.ts'

/** Mean time between two requests of a viewer, in seconds. */
const EVERY_S = 12.5
const A_MINUTE = 60 / EVERY_S

const FILES = 'files that Caddy serves'
const PROXIED = 'each request to tracking'

/** Both rows use the same measurement, which takes minutes. */
const measured = new Map<Scale['name'], Promise<Arrangements>>()
const viewers = (scale: Scale): Promise<Arrangements> =>
  measured.getOrInsertComputed(scale.name, () => measureViewers(scale, EVERY_S))

/** Bytes that a viewer receives per minute. */
const bytes = ({ received, cpu }: Watched): Sample => ({ figure: received * A_MINUTE, cpu })

export const viewersBytes: Row = {
  id: 'viewers',
  title: '10,000 viewers of the map while 20,000 pilgrims walk: bytes a viewer and minute',
  unit: 'bytes',
  rounds: 1,
  open: async (scale) => ({
    contenders: [
      { name: FILES, role: 'ours', measure: async () => bytes((await viewers(scale)).files) },
      { name: PROXIED, role: 'peer', measure: async () => bytes((await viewers(scale)).proxied) },
    ],
    goals: [{ of: null, atMost: 6_000 }],
    close: async () => undefined,
  }),
}

export const viewersCpu: Row = {
  id: 'viewers-cpu',
  title: '10,000 viewers of the map: CPU of tracking a viewer and minute, beside that of Caddy',
  unit: 'µs',
  rounds: 1,
  // The same measurement as the previous row.
  untested: true,
  open: async (scale) => {
    const minute = async (arrangement: keyof Arrangements, process: string) =>
      (await viewers(scale))[arrangement].cpu[process]! * A_MINUTE
    return {
      contenders: [
        { name: `tracking, ${FILES}`, role: 'ours', measure: () => minute('files', 'tracking') },
        { name: `Caddy, ${FILES}`, role: 'peer', measure: () => minute('files', 'Caddy') },
        { name: `tracking, ${PROXIED}`, role: 'peer', measure: () => minute('proxied', 'tracking') },
        { name: `Caddy, ${PROXIED}`, role: 'peer', measure: () => minute('proxied', 'Caddy') },
      ],
      goals: [{ of: `Caddy, ${FILES}`, atMost: 0.05 }],
      close: async () => undefined,
    }
  },
}
