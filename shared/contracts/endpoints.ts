/** The table of all endpoints. Proxy, router, access rules, documentation and tests read it. */
import type { Endpoint } from './endpoint.ts'
import * as audit from './audit.ts'
import * as bot from './bot.ts'
import * as cards from './cards.ts'
import * as clusters from './clusters.ts'
import * as documentation from './documentation.ts'
import * as eventConfig from './event-config.ts'
import * as feedback from './feedback.ts'
import * as home from './home.ts'
import * as ledger from './ledger.ts'
import * as map from './map.ts'
import * as messages from './messages.ts'
import * as operations from './operations.ts'
import * as ownData from './own-data.ts'
import * as photos from './photos.ts'
import * as profile from './profile.ts'
import * as reports from './reports.ts'
import * as stream from './stream.ts'
import * as supervision from './supervision.ts'
import * as survey from './survey.ts'
import * as tracking from './tracking.ts'
import * as userDetail from './user-detail.ts'
import * as userHistory from './user-history.ts'

const isEndpoint = (value: unknown): value is Endpoint =>
  typeof value === 'object' && value !== null && 'service' in value && 'path' in value

/** Every endpoint that a module of contracts exports. */
export const ENDPOINTS: readonly Endpoint[] = [
  tracking,
  survey,
  profile,
  photos,
  feedback,
  cards,
  operations,
  reports,
  audit,
  userDetail,
  userHistory,
  supervision,
  ownData,
  eventConfig,
  clusters,
  map,
  stream,
  ledger,
  bot,
  messages,
  documentation,
  home,
].flatMap((contracts): Endpoint[] => Object.values<unknown>(contracts).filter(isEndpoint))
