/** What single settings are parsed to: origins of pages, the time zone, values in files, the archive of map tiles. */
import { z } from 'zod'
import { readFileSync, closeSync, openSync, readSync } from 'node:fs'

// Origins of web pages that may read answers: `EVENT_CORS_ORIGINS`.

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

// A time zone in the settings.

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

// Settings whose value is in a file.

export type Environment = Record<string, string | undefined>

/** `<NAME>_FILE` is the path of a file with the value; the variable itself has precedence. Blank means unset. */
export function resolveFiles(names: readonly string[], env: Environment, faults: string[]): Environment {
  const resolved: Environment = {}
  for (const name of names) {
    const value = env[name]?.trim()
    const file = env[`${name}_FILE`]?.trim()
    if (value) resolved[name] = value
    else if (file) {
      try {
        resolved[name] = readFileSync(file, 'utf8').trim() || undefined
      } catch (error) {
        faults.push(`${name}_FILE: ${error instanceof Error ? error.message : 'is not readable'}`)
      }
    }
  }
  return resolved
}

// The operator's archive of map tiles, for the detailed map.

/** A PMTiles archive of version 3 begins with its name and its version. */
const BEGINNING = [...new TextEncoder().encode('PMTiles'), 3]

/** Checks that the file is a PMTiles archive; null without one. Adds a fault if it is not. */
export function readMapTiles(file: string, faults: string[]): string | null {
  if (file === '') return null
  try {
    const begins = Buffer.alloc(BEGINNING.length)
    const opened = openSync(file, 'r')
    try {
      readSync(opened, begins, 0, begins.length, 0)
    } finally {
      closeSync(opened)
    }
    if (BEGINNING.every((byte, i) => begins[i] === byte)) return file
    faults.push('EVENT_MAP_TILES: is not a PMTiles archive (version 3)')
  } catch (error) {
    faults.push(`EVENT_MAP_TILES: ${String(error)}`)
  }
  return null
}
