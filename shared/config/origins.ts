/** Origins of web pages that may read answers: `EVENT_CORS_ORIGINS`. */

/** Whether a text has the exact form that browsers send as `Origin`. */
const isOrigin = (given: string): boolean =>
  /^https?:\/\/[a-z0-9.:[\]-]+$/.test(given) && URL.canParse(given) && new URL(given).origin === given

function faultOf(given: string): string {
  if (given === '*') return '* means all origins and must be the only entry'
  const meant = URL.canParse(given) ? new URL(given).origin : 'null'
  const hint = isOrigin(meant) ? `: write ${meant}` : ': write it like https://walk.example'
  return `${JSON.stringify(given)} is not an origin as browsers send it${hint}`
}

/**
 * Parses `*`, or origins separated by commas. Adds a fault for a form that no browser sends (a path, a trailing slash,
 * capitals, a default port), because it would never match.
 */
export function parseOrigins(setting: string, faults: string[]): string[] {
  const origins = setting
    .split(',')
    .map((origin) => origin.trim())
    .filter(Boolean)
  if (origins.length === 1 && origins[0] === '*') return origins
  for (const origin of origins) if (!isOrigin(origin)) faults.push(`EVENT_CORS_ORIGINS: ${faultOf(origin)}`)
  return origins
}
