/** Web pages that may read the answers: `EVENT_CORS_ORIGINS`. */

/** Whether a text is just what browsers send as `Origin`. */
const isOrigin = (given: string): boolean =>
  /^https?:\/\/[a-z0-9.:[\]-]+$/.test(given) && URL.canParse(given) && new URL(given).origin === given

function faultOf(given: string): string {
  if (given === '*') return '* stands for all origins, and alone'
  const meant = URL.canParse(given) ? new URL(given).origin : 'null'
  const hint = isOrigin(meant) ? `: write ${meant}` : ': write it like https://walk.example'
  return `${JSON.stringify(given)} is not an origin as browsers send it${hint}`
}

/**
 * Reads `*`, or origins separated by commas. Pushes a fault for what no browser ever sends (a path, a slash at the
 * end, capitals, a default port): it would match nothing, and nobody would know why.
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
