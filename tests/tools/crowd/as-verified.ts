/**
 * Loaded before the demo's own service: invented people have no ID tokens of LINE, and move on the public map at once, as
 * people do whom `EVENT_IDENTITY=line` verifies.
 */
import { CLAIM_MEASURES } from '#shared/core/rules/claim-measures.ts'

CLAIM_MEASURES.fullHours = false
