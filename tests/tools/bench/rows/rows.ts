/** The rows of the table, in order. */
import type { Row } from '../measure.ts'
import { caddyAlone, freshConnections, throughCaddy } from './caddy.ts'
import { shareCards } from './cards.ts'
import { checkInAlways, checkInEverysec, tracedCheckIn } from './check-in.ts'
import { consoleHours, consoleMap, consoleStreams } from './console.ts'
import { embedded } from './embedded.ts'
import { flushOfMany, flushOfMost } from './flush.ts'
import { clusters, coldProfile, liveMap, warmProfile } from './reading.ts'
import { mapRedraw } from './redraw.ts'
import { scaling } from './scaling.ts'
import { memoryOfEmbedded, memoryOfService, startOfEmbedded, startOfService } from './start.ts'
import { stall } from './stall.ts'
import { trackSync } from './track-sync.ts'
import { trackerApps, trackerReads } from './tracker-apps.ts'
import { viewersBytes, viewersCpu } from './viewers.ts'

export const ROWS: readonly Row[] = [
  checkInEverysec,
  checkInAlways,
  tracedCheckIn,
  throughCaddy,
  freshConnections,
  caddyAlone,
  trackSync,
  ...trackerApps,
  trackerReads,
  flushOfMany,
  flushOfMost,
  liveMap,
  clusters,
  warmProfile,
  coldProfile,
  viewersBytes,
  viewersCpu,
  mapRedraw,
  stall,
  consoleMap,
  consoleHours,
  consoleStreams,
  shareCards,
  embedded,
  scaling,
  startOfEmbedded,
  startOfService,
  memoryOfService,
  memoryOfEmbedded,
]
