/**
 * The files that take part in a check-in, from the socket to the answers that show it: every file whose
 * functions receive the check-in, or data computed from it, and decide, change, store or pass it on. A file
 * imports those indented below it. Not listed: rules about one value (`core/rules`, `contracts/fields.ts`),
 * tables, and tools that do not handle points (`runtime`, headers, cached answers).
 */
export const CHECK_IN_PATH = `
From the socket to Redis
- services/tracking/app.ts
  - shared/service/http/router.ts
    - shared/service/http/check-request.ts
      - shared/service/http/body.ts
    - shared/service/http/answer-errors.ts
  - shared/contracts/tracking.ts
    - shared/contracts/gps-points.ts
  - shared/points/check-in.ts
    - shared/points/accept.ts
    - shared/points/point.ts
  - shared/points/buffer.ts
    - shared/points/admission.ts
      - shared/points/ledger/counters.ts
    - shared/points/journal/journal-recovery.ts
      - shared/points/journal/journal.ts
    - shared/stores/kv/admit-in-memory.ts
      - shared/stores/kv/embedded/state.ts
- shared/stores/kv/kv.redis.ts
  - shared/stores/kv/kv.ts
  - shared/stores/kv/lua/check-in-limit.lua
  - shared/stores/kv/lua/admit-points.lua
From Redis to Postgres, every five minutes, and at once when Redis is half full
- services/scheduler/flush/flush.ts
  - shared/points/pending-points.ts
  - services/scheduler/flush/flush-slice.ts
    - services/scheduler/flush/store-dead-letters.ts
    - services/scheduler/flush/update-totals.ts
      - shared/points/totals/stored-days.ts
      - shared/points/totals/event-totals.ts
      - shared/core/distance/points-to-distance.ts
    - services/scheduler/flush/update-shown-walks.ts
      - shared/points/totals/points-in-order.ts
    - services/scheduler/flush/store-points.ts
    - shared/points/ledger/counters.ts
  - services/scheduler/flush/roll-up-cells.ts
    - shared/core/map/cell-counts.ts
    - shared/points/totals/stored-tiles.ts
- shared/stores/db/db.postgres.ts
From Redis to the public map
- services/tracking/map/map-snapshots.ts
  - services/tracking/map/public-map.ts
    - services/tracking/map/latest-positions.ts
      - shared/core/map/cells.ts
    - services/tracking/map/crowds.ts
  - shared/core/map/front-and-tail.ts
  - services/tracking/map/arrival-times.ts
  - services/tracking/map/map-files.ts
- proxy/pages/map/follow.ts
  - proxy/pages/map/state.ts
  - shared/client/index.ts
From Redis and Postgres to the pilgrim's app
- services/survey-profile/app.ts
  - shared/runtime/batch-loader.ts
  - shared/pilgrims/profile.ts
  - shared/points/totals/pilgrim-statistics.ts
    - shared/points/pending-points.ts
- proxy/pages/walk/session/service.ts
  - proxy/pages/walk/checkin/tally.ts
`

export interface Step {
  readonly path: string
  readonly depth: number
  /** The file that imports it; null at the beginning of a part. */
  readonly parent: string | null
}

/** The parts of the path, each with its steps in order. */
export function checkInPath(): readonly { readonly title: string; readonly steps: readonly Step[] }[] {
  const parts: { title: string; steps: Step[] }[] = []
  const open: string[] = []
  for (const line of CHECK_IN_PATH.trim().split('\n')) {
    const [, indent, path] = /^( *)- (.+)$/.exec(line) ?? []
    if (path === undefined) {
      parts.push({ title: line, steps: [] })
      continue
    }
    const depth = indent!.length / 2
    open.length = depth
    open.push(path)
    parts.at(-1)!.steps.push({ path, depth, parent: open[depth - 1] ?? null })
  }
  return parts
}
