/**
 * The rule for writes without proof. With `EVENT_IDENTITY=open` an id that no app made is a claim, because others may
 * know it, such as a LINE id. A claim may add data, but never reveal or remove any.
 */
import type { Config, Window } from '#shared/runtime/config/config.ts'
import { actsForPilgrim, type Endpoint } from '#shared/contracts/endpoint.ts'
import { isAppId } from '#shared/contracts/fields.ts'
import { forbidden } from '#shared/runtime/refusal.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import { charge } from './caller-and-address-limits.ts'

/**
 * What an endpoint does for a claim:
 * - `adds`: points, or an item beside existing ones;
 * - `writes`: words and counters that can be overwritten;
 * - `hides`: hides the pilgrim at most, and destroys nothing; the opposite request undoes it;
 * - `refused`: 403, because it reveals or removes private data.
 */
export type ClaimRule = 'adds' | 'writes' | 'hides' | 'refused'

type RuleOf = ClaimRule | ((body: { readonly live_hours?: number | null | undefined }) => ClaimRule)

/** A link that shows the pilgrim's position needs proof. */
const unlessLive: RuleOf = ({ live_hours: hours }) => (hours == null ? 'adds' : 'refused')

/** The rule of every endpoint that acts in a pilgrim's name, by endpoint id. */
export const CLAIM_RULES: Readonly<Record<string, RuleOf>> = {
  checkIn: 'adds',
  syncTrack: 'adds',
  raiseEmergency: 'adds',
  submitFeedback: 'adds',
  uploadScreenshot: 'adds',
  createTracker: 'adds',
  createShare: unlessLive,
  subscribeToPush: 'adds',
  submitSurvey: 'writes',
  submitSurveyAlias: 'writes',
  syncProfile: 'writes',
  setPhone: 'writes',
  setPrivacy: 'hides',
  setParticipantStatus: 'hides',
  listShares: 'refused',
  changeShare: 'refused',
  revokeShare: 'refused',
  listTrackers: 'refused',
  revokeTracker: 'refused',
  listPushSubscriptions: 'refused',
  unsubscribeFromPush: 'refused',
  readOwnWalk: 'refused',
  exportOwnData: 'refused',
  eraseOwnData: 'refused',
}

/**
 * Whether a request in this id's name is a claim. With `EVENT_IDENTITY=line` the router has verified the ID token; only
 * its pilgrim knows an id that an app made.
 */
export const isClaim = ({ identity }: Pick<Config, 'identity'>, userId: string): boolean =>
  identity === 'open' && !isAppId(userId)

/** Trackers and devices that an address may add to one claim per day; a claim may have ten of each. */
export const CLAIM_QUOTA: Window = { max: 3, windowMs: 86_400_000 }

/**
 * Counts items of which a pilgrim may have only a few, so that a stranger cannot fill the pilgrim's quota at once.
 * @param what names the quota
 * @throws Refusal 429 for a claim to which the address has added enough
 */
export async function chargeQuota(
  { config, kv }: Pick<ServiceContext, 'config' | 'kv'>,
  what: string,
  userId: string,
  address: string,
): Promise<void> {
  if (isClaim(config, userId)) await charge(kv, what, `${userId} ${address}`, CLAIM_QUOTA)
}

const ruleOf = ({ id }: Endpoint) => (Object.hasOwn(CLAIM_RULES, id) ? CLAIM_RULES[id] : undefined)

/** @throws Error for an endpoint that acts in a pilgrim's name without a rule */
export function expectClaimRule(endpoint: Endpoint): void {
  if (actsForPilgrim(endpoint) && ruleOf(endpoint) === undefined)
    throw new Error(`${endpoint.id} acts in a pilgrim’s name: CLAIM_RULES needs its rule for claims`)
}

/** @throws Refusal 403 for a claim where the endpoint refuses claims */
export function checkClaim(
  config: Pick<Config, 'identity'>,
  endpoint: Endpoint,
  userId: string,
  body: unknown,
): void {
  if (!isClaim(config, userId)) return
  const rule = ruleOf(endpoint)
  if ((typeof rule === 'function' ? rule(body as object) : rule) !== 'refused') return
  throw forbidden(
    'This id may be known to others, so it does not open personal data. Ask the organisers, or use the event’s app.',
  )
}
