/** Alerts, panels and the runbook agree with the metrics of the services. */
import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ALERTS, dashboard, OBSERVED, rules } from '#proxy/observe/write.ts'
import { type Metric, METRICS } from '#shared/runtime/metric-table.ts'
import { ServiceName } from '#shared/contracts/endpoint.ts'

const ROOT = join(import.meta.dir, '../..')
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8')
const TABLE: Readonly<Record<string, Metric>> = METRICS
const QUERIES = Object.values(OBSERVED).flatMap(({ alerts = [], panels = [] }) =>
  [...alerts.map(({ when }) => when), ...panels.map(({ query }) => query)].map((query) => ({ query })),
)
/** Labels that Prometheus and `createMetrics` add, and that of a histogram's buckets. */
const ADDED = ['job', 'service', 'le']

test('each metric has an alert, a panel, or a word on when to act', () => {
  for (const [name, { act }] of Object.entries(TABLE))
    expect({ name, isSeen: act !== undefined || OBSERVED[name] !== undefined }).toEqual({
      name,
      isSeen: true,
    })
  expect(Object.keys(OBSERVED).filter((name) => name !== 'up' && TABLE[name] === undefined)).toEqual([])
})

test.each(QUERIES)('$query names metrics and labels of the table', ({ query }) => {
  const metrics = (query.match(/\bevent_\w+/g) ?? []).map((series) => {
    const base = series.replace(/_(bucket|sum|count)$/, '')
    expect({ series, isDeclared: base in TABLE }).toEqual({ series, isDeclared: true })
    expect(TABLE[base]!.type === 'histogram').toBe(base !== series)
    return base
  })
  const allowed = [...ADDED, ...metrics.flatMap((name) => TABLE[name]!.labels)]
  const grouped = [...query.matchAll(/by \(([^)]*)\)/g)].flatMap(([, labels]) => labels!.split(', '))
  const matched = [...query.matchAll(/[{,](\w+)(?:=~|!=|=)"/g)].map(([, label]) => label!)
  expect([...grouped, ...matched].filter((label) => !allowed.includes(label))).toEqual([])
})

test('each alert has a section of the runbook, of ten lines at most, with all three parts', () => {
  const sections = read('services/RUNBOOK.md')
    .split(/^## /m)
    .filter((section) => /^\w+\n/.test(section))
  const named = new Map(sections.map((section) => [/^\w+/.exec(section)![0], section.split('\n').slice(1)]))
  const byLine = ['ClockDiffers', 'PhonesAhead', 'SlotsMove', 'LineQuota']
  expect([...named.keys()].toSorted()).toEqual([...ALERTS.map(({ name }) => name), ...byLine].toSorted())
  for (const [name, lines] of named) {
    const said = lines.filter((line) => line.trim() !== '')
    expect({ name, fits: said.length <= 10 }).toEqual({ name, fits: true })
    for (const part of [/^- \*\*Pilgrims\*\* /, /^- \*\*Look:\*\* /, /^- \*\*Fix:\*\* /, /^```sh$/])
      expect({ name, part, lines: said.filter((line) => part.test(line)).length }).toEqual({
        name,
        part,
        lines: 1,
      })
  }
  for (const { annotations } of rules().groups[0]!.rules) {
    const [file, anchor] = annotations.runbook.split('#')
    expect(read(file!).toLowerCase()).toContain(`\n## ${anchor}\n`)
  }
})

test('a command of the runbook names services of the compose file', () => {
  const compose = Bun.YAML.parse(read('docker-compose.yml')) as { services: Record<string, unknown> }
  const after =
    /docker compose (?:(?:up|restart|logs|exec|run)(?: -{1,2}(?:since \w+|scale \w+=\d+|entrypoint \w+|[\w-]+))*) ([a-z][\w -]*)/g
  const commands = [...read('services/RUNBOOK.md').matchAll(after)]
  expect(commands.length).toBeGreaterThan(20)
  for (const [command, names] of commands)
    expect({ command, isThere: Object.hasOwn(compose.services, names!.split(' ')[0]!) }).toEqual({
      command,
      isThere: true,
    })
})

test('Prometheus reads every service, and an absent one is an alert', () => {
  const config = Bun.YAML.parse(read('proxy/observe/prometheus.yml')) as {
    scrape_configs: [{ dns_sd_configs: [{ names: string[] }] }]
  }
  expect(config.scrape_configs[0].dns_sd_configs[0].names.toSorted()).toEqual(ServiceName.options.toSorted())
  for (const name of ServiceName.options) expect(OBSERVED.up!.alerts![0]!.when).toContain(`{job="${name}"}`)
})

test.each(['operator', 'developer'] as const)('the %s’s dashboard is one screen', (screen) => {
  const { panels } = dashboard(screen)
  const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, i) => `${x + (i % w)},${y + Math.floor(i / w)}`),
  )
  expect(new Set(cells).size).toBe(cells.length)
  // A row is 38 pixels high; 1,080 pixels have 26 below the browser's and Grafana's bars.
  for (const { gridPos } of panels) expect(gridPos.y + gridPos.h).toBeLessThanOrEqual(26)
})
