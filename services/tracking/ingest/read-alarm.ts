/**
 * Reads an SOS out of what a tracker app sends. Other alarms, such as a low battery, are no emergencies.
 *
 * Traccar (org.traccar.model.Position) names it `sos`, in a list separated by commas where there are several. Traccar
 * Client 10 and 8 send it as `alarm`, 9 in `location.extras`; the server reads `location.alarm`, too, and forwards it
 * in `position.attributes`, which in a query is JSON. The apps of OwnTracks have no such button; devices that
 * write its format send `alarm`.
 */
import { isObject } from './sent-fields.ts'

/** Deeper objects are not searched. */
const DEPTH = 6

/** Whether a value of `alarm` names an SOS among others. */
function namesSos(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(namesSos)
  return typeof value === 'string' && value.split(/[,;|\s]+/).some((name) => name.toLowerCase() === 'sos')
}

/** Whether what was sent is an SOS: a query, a form, a message, or one item of a batch. */
export function isSos(sent: unknown, depth = DEPTH): boolean {
  if (depth === 0) return false
  if (Array.isArray(sent)) return sent.some((item) => isSos(item, depth - 1))
  if (!isObject(sent)) return false
  return Object.entries(sent).some(([name, value]) => {
    const field = name.toLowerCase()
    if (field === 'alarm') return namesSos(value)
    return isSos(field === 'attributes' ? unwritten(value) : value, depth - 1)
  })
}

/** An object that is written as JSON. */
function unwritten(value: unknown): unknown {
  if (typeof value !== 'string') return value
  try {
    return JSON.parse(value)
  } catch {
    return undefined
  }
}
