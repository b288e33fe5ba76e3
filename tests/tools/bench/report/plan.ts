/** The resources for a million walkers, computed from the CPU of a check-in in this run. */
import { type Cpu, type Measured, median } from '../measure.ts'

const WALKERS = 1_000_000
/** Interval of each walker's points, in seconds. */
const EVERY_S = 30
/** Planned utilisation of a core. */
const BUSY = 0.5

const PARTS = ['Caddy', 'tracking', 'Redis'] as const

/**
 * Cores of each part, with persistent and with new connections; empty if the rows behind Caddy were not
 * measured.
 */
export function plan(rows: readonly Measured[]): string {
  const kept = cpuOf(rows, 'caddy')
  const fresh = cpuOf(rows, 'caddy-fresh')
  if (kept === undefined || fresh === undefined) return ''
  const aSecond = WALKERS / EVERY_S
  const cores = (microseconds: number): string => ((microseconds * aSecond) / 1e6 / BUSY).toFixed(1)
  const line = (name: string, costs: readonly number[]): string =>
    `| ${name} | ${costs.map((cost) => `${Math.round(cost)} | ${cores(cost)}`).join(' | ')} |`
  const costs = PARTS.map((part) => [kept[part] ?? 0, fresh[part] ?? 0] as const)
  const sums = [0, 1].map((i) => costs.reduce((sum, cost) => sum + cost[i]!, 0))
  return [
    `${WALKERS.toLocaleString('en')} walkers, a check-in of each every ${EVERY_S} s, ${Math.round(aSecond).toLocaleString('en')} a second, each core half busy:`,
    '',
    '| part | µs, connections kept | cores | µs, a new TLS connection each | cores |',
    '| ---- | -------------------- | ----- | ----------------------------- | ----- |',
    ...PARTS.map((part, i) => line(part, costs[i]!)),
    line('together', sums),
  ].join('\n')
}

function cpuOf(rows: readonly Measured[], id: string): Cpu | undefined {
  const figure = rows.find((row) => row.id === id)?.figures.find(({ role }) => role === 'ours')
  const each = Object.entries(figure?.cpu ?? {}).map(([part, samples]) => [part, median(samples)])
  return each.length === 0 ? undefined : (Object.fromEntries(each) as Cpu)
}
