/** A time zone in the settings. */
import { z } from 'zod'

/** An IANA name that this runtime knows. */
export const timeZone = z.string().refine(
  (zone) => {
    try {
      new Intl.DateTimeFormat('en-US', { timeZone: zone })
      return true
    } catch {
      return false
    }
  },
  { error: 'is not an IANA time zone such as Asia/Taipei' },
)
