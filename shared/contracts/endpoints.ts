/** The one table of routes: proxy, router, access rules, documentation and tests all read it. */
import type { Endpoint } from './endpoint.ts'
import { healthEndpoint, readStatusEndpoint, roleEndpoint, setStatusEndpoint } from './operations.ts'
import {
  participantStatusEndpoint,
  phoneEndpoint,
  photoCountEndpoint,
  privacyEndpoint,
  profileEndpoint,
  userSyncEndpoint,
} from './profile.ts'
import { submitEndpoint, surveyEndpoint } from './survey.ts'
import { checkInEndpoint, dataEndpoint, trackSyncEndpoint } from './tracking.ts'

export const ENDPOINTS: readonly Endpoint[] = [
  checkInEndpoint,
  trackSyncEndpoint,
  dataEndpoint,
  submitEndpoint,
  surveyEndpoint,
  userSyncEndpoint,
  phoneEndpoint,
  privacyEndpoint,
  participantStatusEndpoint,
  photoCountEndpoint,
  profileEndpoint,
  roleEndpoint,
  readStatusEndpoint,
  setStatusEndpoint,
  healthEndpoint,
]
