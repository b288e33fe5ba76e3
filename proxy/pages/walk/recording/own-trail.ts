/** The trail of the pilgrim of this device, kept over a reload. */
import { keep, kept } from '../session/stored-signals.ts'
import { person } from '../session/person.ts'
import { type Trail, trailAfter, type TrailPlace } from './trail.ts'

const trail = kept<Trail>('walk-trail', { userId: '', places: [] })

/** Notes where the pilgrim was: at a recorded point or a check-in. */
export function noteTrail(place: TrailPlace): void {
  const userId = person.peek()?.userId
  if (userId === undefined) return
  const next = trailAfter(trail.peek(), userId, place)
  if (next !== trail.peek()) keep(trail, next)
}

/** The trail of this pilgrim. */
export const ownTrail = (): readonly TrailPlace[] =>
  trail.value.userId === person.value?.userId ? trail.value.places : []
