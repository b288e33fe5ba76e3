/**
 * Loaded before the demo's own service: invented people have no ID tokens of LINE, and are on the public map as
 * people are whom `EVENT_IDENTITY=line` verifies.
 */
import { CLAIM_MEASURES } from '#shared/core/rules/claim-measures.ts'

CLAIM_MEASURES.fullHours = false
CLAIM_MEASURES.wideCells = false
