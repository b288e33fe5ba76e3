/**
 * An example of each request and each answer. The documentation shows them, and a test sends each request to a
 * running service (tests/openapi/examples.test.ts).
 */
import { FEEDBACK } from './examples/feedback.ts'
import { MAP } from './examples/map.ts'
import { MESSAGES } from './examples/messages.ts'
import { OPERATION } from './examples/operation.ts'
import { OWN_DATA } from './examples/own-data.ts'
import { PEOPLE } from './examples/people.ts'
import { PILGRIMS } from './examples/pilgrims.ts'
import { PUSH_SUBSCRIPTIONS } from './examples/push-subscriptions.ts'
import { REPORTS } from './examples/reports.ts'
import { TRACKERS } from './examples/trackers.ts'
import { SHARES } from './examples/shares.ts'

export interface Example {
  readonly params?: Readonly<Record<string, string | number>>
  readonly query?: Readonly<Record<string, string | number>>
  readonly headers?: Readonly<Record<string, string>>
  /** JSON body. */
  readonly body?: unknown
  /** Fields of a form, where there is no JSON body. */
  readonly form?: Readonly<Record<string, string>>
  /** `data` of the envelope; for other media types the whole answer. Absent for pictures and pages. */
  readonly answer?: unknown
}

/** The day of all examples. The document of a running service has the day before, so that the requests can be tried. */
export const EXAMPLE_DAY = '2026-04-12'

/** By the operation's id. */
export const EXAMPLES: Readonly<Record<string, Example>> = {
  ...PILGRIMS,
  ...FEEDBACK,
  ...MAP,
  ...MESSAGES,
  ...OPERATION,
  ...OWN_DATA,
  ...PEOPLE,
  ...PUSH_SUBSCRIPTIONS,
  ...REPORTS,
  ...TRACKERS,
  ...SHARES,
}
