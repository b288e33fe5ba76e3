/** The table of all endpoints. Proxy, router, access rules, documentation and tests read it. */
import { z } from 'zod'
import type { Endpoint } from './endpoint.ts'
import * as audit from './audit.ts'
import * as bot from './bot.ts'
import * as cards from './cards.ts'
import * as clusters from './clusters.ts'
import * as documentation from './documentation.ts'
import * as emergencies from './emergencies.ts'
import * as eventConfig from './event-config.ts'
import * as eventSettings from './event-settings.ts'
import * as erasure from './erasure.ts'
import * as errors from './errors.ts'
import * as feedback from './feedback.ts'
import * as fields from './fields.ts'
import * as gpsPoints from './gps-points.ts'
import * as ingest from './ingest.ts'
import * as ledger from './ledger.ts'
import * as map from './map.ts'
import * as messages from './messages.ts'
import * as operations from './operations.ts'
import * as ownData from './own-data.ts'
import * as profile from './profile.ts'
import * as pushSubscriptions from './push-subscriptions.ts'
import * as reports from './reports.ts'
import * as stream from './stream.ts'
import * as shares from './shares.ts'
import * as supervision from './supervision.ts'
import * as survey from './survey.ts'
import * as trackers from './trackers.ts'
import * as tracking from './tracking.ts'
import * as userDetail from './user-detail.ts'
import * as userHistory from './user-history.ts'

/** Modules that declare endpoints or the schemas of their bodies and answers. */
const MODULES = [
  tracking,
  trackers,
  ingest,
  emergencies,
  survey,
  profile,
  feedback,
  cards,
  shares,
  operations,
  reports,
  audit,
  userDetail,
  userHistory,
  supervision,
  ownData,
  eventConfig,
  eventSettings,
  clusters,
  map,
  stream,
  ledger,
  bot,
  messages,
  pushSubscriptions,
  documentation,
  fields,
  gpsPoints,
  erasure,
  errors,
]

const isEndpoint = (value: unknown): value is Endpoint =>
  typeof value === 'object' && value !== null && 'service' in value && 'path' in value

export const ENDPOINTS: readonly Endpoint[] = MODULES.flatMap((contracts): Endpoint[] =>
  Object.values<unknown>(contracts).filter(isEndpoint),
)

/** Schemas by the name under which a module of contracts exports them. */
export const SCHEMA_NAMES: ReadonlyMap<unknown, string> = new Map(
  MODULES.flatMap((contracts) => Object.entries<unknown>(contracts))
    .filter(([, value]) => value instanceof z.ZodType)
    .map(([name, schema]) => [schema, name]),
)
