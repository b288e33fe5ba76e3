/**
 * Detects an SOS in the data of tracker apps. Other alarms, such as a low battery, are not emergencies.
 *
 * The Traccar server (org.traccar.model.Position) calls it `sos`; several alarms are separated by commas. Traccar
 * Client 8 and 10 send `alarm`, 9 sends `location.extras`. The server also reads `location.alarm` and forwards
 * `position.attributes`, which is JSON text in a query. OwnTracks apps have no SOS button, but devices that write its
 * format send `alarm`.
 */
import { isObject } from './sent-fields.ts'

/** Deeper objects are not searched. */
const DEPTH = 6

/** Whether a value of `alarm` contains an SOS. */
function namesSos(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(namesSos)
  return typeof value === 'string' && value.split(/[,;|\s]+/).some((name) => name.toLowerCase() === 'sos')
}

/** Whether sent data contain an SOS: a query, a form, a message, or one item of a batch. */
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

/** An object written as JSON text. */
function unwritten(value: unknown): unknown {
  if (typeof value !== 'string') return value
  try {
    return JSON.parse(value)
  } catch {
    return undefined
  }
}
