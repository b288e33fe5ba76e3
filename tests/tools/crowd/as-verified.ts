/**
 * Loaded before the demo's own service: simulated people have no LINE ID tokens, but move on the public map
 * at once, like people verified with `EVENT_IDENTITY=line`.
 */
import { CLAIM_MEASURES } from '#shared/core/rules/claim-measures.ts'

CLAIM_MEASURES.fullHours = false
CLAIM_MEASURES.wideCells = false
CLAIM_MEASURES.betweenCells = false
