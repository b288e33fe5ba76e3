/** The benchmark's rows run at a tiny size; speed is not checked. */
import { beforeAll, describe, expect, test } from 'bun:test'
import { describeOnServers, embeddedOnly } from '#tests/helpers/suite.ts'
import { type Measured, measureRow, median, SCALES, spread } from './measure.ts'
import { installPeers } from './peers/install.ts'
import { chart, scoreOf } from './report/chart.ts'
import { compare, Run } from './report/compare.ts'
import { plan } from './report/plan.ts'
import { markdown, rowText } from './report/table.ts'
import { ROWS } from './rows/rows.ts'

const missing: string[] = []
if (Bun.which('wrk') === null) missing.push('wrk')

/** Peers are not part of the product: without a package registry the other rows still run. */
const peers =
  !embeddedOnly &&
  missing.length === 0 &&
  (await installPeers().then(
    () => true,
    () => false,
  ))
if (!peers && !embeddedOnly) missing.push('packages of the peers')
if (missing.length > 0 && !embeddedOnly)
  console.warn(
    `\n!!! The benchmark is not run whole: without ${missing.join(', ')}; "bun run bench" installs them\n`,
  )

describeOnServers('the benchmark', () => {
  for (const row of ROWS.filter(({ untested }) => untested !== true))
    test.skipIf(missing.includes('wrk') || (row.peers === true && !peers))(row.id, async () => {
      const { figures, goals } = await measureRow(row, SCALES.smoke)
      expect(figures[0]?.role).toBe('ours')
      expect(goals.length).toBeGreaterThan(0)
      for (const { samples } of figures) for (const sample of samples) expect(sample).toBeGreaterThan(0)
    })
})

describe('a report', () => {
  let row: Measured
  beforeAll(() => {
    row = {
      id: 'a',
      title: 'a & b',
      unit: 'answers/s',
      figures: [
        {
          name: 'ours',
          role: 'ours',
          samples: [900, 1_000, 1_100],
          cpu: { a: [12, 13, 14], wrk: [5, 5, 5] },
        },
        { name: 'bare', role: 'limit', samples: [2_000, 2_000, 2_000], cpu: { Bun: [12.34, 12.35, 12.3] } },
        {
          name: 'theirs',
          role: 'peer',
          samples: [500, 1_000, 2_000],
          cpu: { Hono: [30, 30, 40], Redis: [9, 8, 9] },
        },
      ],
      goals: [{ of: 'bare', atLeast: 0.6, ratios: [0.45, 0.5, 0.55], verdict: 'missed' }],
    }
  })

  test('prints medians and their spread, and marks missed goals', () => {
    expect(median([3, 1, 2])).toBe(2)
    expect(median([4, 1, 2, 3])).toBe(2.5)
    expect(spread([1, 2, 10])).toBe(1)
    expect(rowText(row)).toMatch(/1,000 ± 100 [^]*MISSED 0\.50 \(0\.45 – 0\.55\), goal bare ≥ 0\.6/)
    expect(rowText(row)).toMatch(/theirs [^]*CPU a request, µs: Hono 30 ± 0, Redis 9 ± 0/)
    expect(markdown([row]).split('\n').slice(2)).toEqual([
      '| a & b | 1,000 ± 100 answers/s (a 13 ± 1, wrk 5 ± 0) | bare: 2,000 ± 0 (Bun 12.3 ± 0.01) | 0.50 (0.45 – 0.55) | 1.05 (0.97 – 1.14) | ≥ 0.6 | ✗ |',
      '|  |  | theirs: 1,000 ± 500 (Hono 30 ± 0, Redis 9 ± 0) | 1.00 (0.55 – 1.80) | 0.31 (0.29 – 0.34) |  |  |',
      '',
      '0 of 1 goals are met.',
    ])
  })

  test('decides no goal that is nearer than the rounds are to each other', async () => {
    const figures = [0.9, 1, 1.1]
    const measured = await measureRow(
      {
        id: 'a',
        title: 'a',
        unit: '/s',
        open: async () => ({
          contenders: [{ name: 'ours', role: 'ours', measure: async () => figures.pop()! }],
          goals: [0.95, 0.5, 2].map((atLeast) => ({ of: null, atLeast })),
          close: async () => {},
        }),
      },
      { name: 'quick', rounds: 3, seconds: 0, share: 1 },
    )
    expect(measured.goals.map(({ verdict }) => verdict)).toEqual(['not decided', 'met', 'missed'])
    expect(markdown([measured])).toEndWith('\n1 of 3 goals are met, and 1 not decided.')
  })

  test('draws each goal, the best first, and the same distance for twice as good whichever direction is better', () => {
    const missed = { of: null, atMost: 10, ratios: [20], verdict: 'missed' } as const
    const met = { of: null, cpu: { ours: ['Bun'] }, atLeast: 2, ratios: [4], verdict: 'met' } as const
    const svg = chart([{ ...row, goals: [missed, met] }], 'today')
    expect([scoreOf(missed), scoreOf(met)]).toEqual([0.5, 2])
    expect(svg.indexOf('a &amp; b: CPU of Bun ≥ 2')).toBeLessThan(svg.indexOf('a &amp; b: ≤ 10'))
    expect(svg).toContain('<rect x="1020.0" y="49" width="90.0" height="13" fill="#1f6f5c"/>')
    expect(svg).toContain('<rect x="930.0" y="69" width="90.0" height="13" fill="#c2452d"/>')
  })

  test('plans for a million walkers by the CPU of a check-in, connections kept and new', () => {
    const behindCaddy = (id: string, Caddy: number): Measured => ({
      ...row,
      id,
      figures: [
        { name: 'ours', role: 'ours', samples: [1], cpu: { Caddy: [Caddy], tracking: [30], Redis: [15] } },
      ],
    })
    expect(plan([row])).toBe('')
    expect(
      plan([behindCaddy('caddy', 120), behindCaddy('caddy-fresh', 420)])
        .split('\n')
        .slice(-4),
    ).toEqual([
      '| Caddy | 120 | 8.0 | 420 | 28.0 |',
      '| tracking | 30 | 2.0 | 30 | 2.0 |',
      '| Redis | 15 | 1.0 | 15 | 1.0 |',
      '| together | 165 | 11.0 | 465 | 31.0 |',
    ])
  })

  test('reports what became slower by more than the noise, also where less is better', () => {
    const now = (bound: 'atLeast' | 'atMost', ...ratios: number[]): Measured => ({
      ...row,
      figures: row.figures.map(({ name, role, samples }) => ({ name, role, samples })),
      goals: [
        { of: 'bare', [bound]: 1, ratios, verdict: 'met' },
        { of: 'bare', cpu: { ours: ['Bun'] }, [bound]: 1, ratios: [1], verdict: 'met' },
      ],
    })
    const runOf = (rows: readonly Measured[]) => Run.parse({ at: '', scale: 'full', machine: '', rows }).rows
    const before = (bound: 'atLeast' | 'atMost') => runOf([now(bound, 0.5, 0.51, 0.52)])
    const slower = (bound: 'atLeast' | 'atMost', ...ratios: number[]) =>
      compare(before(bound), [now(bound, ...ratios)]).map((difference) => difference.slower)
    expect(slower('atLeast', 0.29, 0.3, 0.31)).toEqual([true, false])
    expect(slower('atLeast', 0.5, 0.5, 0.51)).toEqual([false, false])
    expect(slower('atLeast', 0.8, 0.8, 0.8)).toEqual([false, false])
    expect(slower('atLeast', 0.1, 0.4, 0.9)).toEqual([false, false])
    expect(slower('atMost', 0.8, 0.8, 0.8)).toEqual([true, false])
    expect(slower('atMost', 0.29, 0.3, 0.31)).toEqual([false, false])
    // A rate that another load has halved, at the same CPU, is not slower; one at twice the CPU is.
    const costing = (cpu: number, rate: number): Measured => ({
      ...row,
      figures: [
        { name: 'ours', role: 'ours', samples: [1, 1, 1], cpu: { tracking: [cpu, cpu + 1, cpu] } },
        { name: 'bare', role: 'limit', samples: [1, 1, 1], cpu: { Bun: [10, 10, 10] } },
      ],
      goals: [{ of: 'bare', atLeast: 0.6, ratios: [rate, rate, rate], verdict: 'met' }],
    })
    const known = runOf([costing(30, 0.6)])
    expect(compare(known, [costing(31, 0.3), costing(60, 0.6)])).toMatchObject([
      { slower: false },
      { slower: true },
    ])
  })
})
