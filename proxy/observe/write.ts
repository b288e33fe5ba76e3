/** Makes Prometheus' rules and Grafana's screens from observe.yml, and writes them into a folder. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type MetricName, METRICS } from '#shared/runtime/metric-table.ts'
import { readCommandLine } from '#shared/runtime/command-line.ts'

const USAGE = `Writes what Prometheus and Grafana read: rules.json, operator.json and developer.json.

  bun proxy/observe/write.ts --to <folder> [--help]

docker compose --profile observe up does this at each start.`

interface Alert {
  readonly name: string
  readonly kind: 'lost' | 'late' | 'full' | 'down'
  readonly for?: string
  readonly when: string
  readonly says: string
}

interface Panel {
  /** The title, by the screen that it is on. */
  readonly operator?: string
  readonly developer?: string
  readonly query: string
  /** The labels that name a figure or a line. */
  readonly by?: string
  /** A unit of Grafana. */
  readonly unit?: string
  /** A figure is red from here on, or below here. */
  readonly red?: { readonly from: number } | { readonly below: number }
}

interface Observed {
  readonly alerts?: readonly Alert[]
  readonly panels?: readonly Panel[]
}

/** Alerts and panels by metric. `up` is Prometheus' own. */
export const OBSERVED = Bun.YAML.parse(
  readFileSync(join(import.meta.dir, 'observe.yml'), 'utf8'),
) as Readonly<Record<string, Observed>>
export const ALERTS = Object.values(OBSERVED).flatMap(({ alerts = [] }) => alerts)

/** The section of an alert in the runbook. */
export const sectionOf = (name: string): string => `RUNBOOK.md#${name.toLowerCase()}`

/** Prometheus' alert rules; it reads JSON as YAML. */
export const rules = () => ({
  groups: [
    {
      name: 'pilgrimage',
      rules: ALERTS.map(({ name, kind, when, says, for: after = '1m' }) => ({
        alert: name,
        expr: when,
        for: after,
        labels: { kind },
        annotations: { summary: says, runbook: `services/${sectionOf(name)}` },
      })),
    },
  ],
})

const SOURCE = { type: 'prometheus', uid: 'prometheus' }
/** Sizes of a panel; a screen has 24 columns. */
const SIZE = { operator: { w: 6, h: 4 }, developer: { w: 6, h: 5 } }
/** Firing alerts are above the operator's figures. */
const FIRING = {
  id: 1,
  type: 'table',
  title: 'Alerts; each is a section of services/RUNBOOK.md',
  datasource: SOURCE,
  gridPos: { x: 0, y: 0, w: 24, h: 5 },
  targets: [
    {
      refId: 'A',
      expr: 'max by (kind, alertname, job, service, subscriber, queue) (ALERTS{alertstate="firing"})',
      instant: true,
      format: 'table',
    },
  ],
  transformations: [{ id: 'organize', options: { excludeByName: { Time: true, Value: true } } }],
}

const stepsOf = (red: Panel['red']) => {
  if (red === undefined) return [{ color: 'green', value: null }]
  return 'from' in red
    ? [
        { color: 'green', value: null },
        { color: 'red', value: red.from },
      ]
    : [
        { color: 'red', value: null },
        { color: 'green', value: red.below },
      ]
}

/** A screen of Grafana. */
export function dashboard(screen: 'operator' | 'developer') {
  const { w, h } = SIZE[screen]
  const isOperator = screen === 'operator'
  const own = Object.entries(OBSERVED).flatMap(([name, { panels = [] }]) =>
    panels.filter((panel) => panel[screen] !== undefined).map((panel) => ({ name, panel })),
  )
  const panels = own.map(({ name, panel: { query, by, unit = 'short', red, ...title } }, i) => ({
    id: i + 2,
    type: isOperator ? 'stat' : 'timeseries',
    title: title[screen]!,
    description: `${name}: ${METRICS[name as MetricName]?.help ?? 'whether Prometheus can read it'}`,
    datasource: SOURCE,
    gridPos: { x: (i * w) % 24, y: Math.floor((i * w) / 24) * h + (isOperator ? FIRING.gridPos.h : 0), w, h },
    targets: [{ refId: 'A', expr: query, ...(by !== undefined && { legendFormat: by }) }],
    fieldConfig: { defaults: { unit, thresholds: { mode: 'absolute', steps: stepsOf(red) } }, overrides: [] },
  }))
  return {
    uid: screen,
    title: isOperator ? 'Operator' : 'Developer',
    schemaVersion: 39,
    refresh: '15s',
    time: { from: 'now-3h', to: 'now' },
    panels: isOperator ? [FIRING, ...panels] : panels,
  }
}

if (import.meta.main) {
  const { to } = readCommandLine(USAGE, { to: { type: 'string', default: './data/observe' } }).values
  mkdirSync(to, { recursive: true })
  const written = {
    'rules.json': rules(),
    'operator.json': dashboard('operator'),
    'developer.json': dashboard('developer'),
  }
  for (const [file, content] of Object.entries(written))
    writeFileSync(join(to, file), `${JSON.stringify(content)}\n`)
}
