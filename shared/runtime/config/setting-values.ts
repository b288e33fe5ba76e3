/** Parsed values of single settings: origins, time zone, values in files, map tiles, tokens, Web Push, the area. */
import { z } from 'zod'
import { readFileSync, closeSync, openSync, readSync } from 'node:fs'
import { BuiltInLanguage, type Language } from '#shared/contracts/bot.ts'
import { type EventParts, MAX_EVENT_NAME } from '#shared/contracts/event-settings.ts'
import { cutText, type Role } from '#shared/contracts/fields.ts'
import { DEFAULT_SURVEY } from '#shared/locales/default-survey.ts'
import { createECDH } from 'node:crypto'
import { partOfRoute, type RouteFile } from './read-route.ts'
import { booleanPointInPolygon } from '@turf/boolean-point-in-polygon'

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

/** Zones of events whose own language is not English. */
const ZONE_LANGUAGES: ReadonlyMap<string, Language> = new Map([
  ['Asia/Taipei', 'zh-Hant'],
  ['Asia/Hong_Kong', 'zh-Hant'],
  ['Asia/Macau', 'zh-Hant'],
  ['Asia/Shanghai', 'zh-Hans'],
  ['Asia/Tokyo', 'ja'],
])

/** The event's own language until its owner sets one. @param zone IANA name */
const languageOfZone = (zone: string): Language => ZONE_LANGUAGES.get(zone) ?? 'en'

/** Zones outside `Europe/` in which the European emergency number works. */
const EUROPEAN_ZONES =
  /^(Europe\/|Arctic\/Longyearbyen$|Asia\/(Famagusta|Nicosia)$|Africa\/Ceuta$|Atlantic\/(Azores|Canary|Faroe|Madeira|Reykjavik)$)/

/** The emergency number in a time zone; null if unknown. */
function emergencyNumberOf(zone: string): string | null {
  if (zone === 'Asia/Taipei') return '119'
  return EUROPEAN_ZONES.test(zone) ? '112' : null
}

/**
 * The event from the environment: the value of each part until the owner sets it. `EVENT_NAME` is read once;
 * `EVENT_ROUTE` and `EVENT_AREA` are read at each start, until the owner sets the route.
 */
export function eventFromEnvironment(
  s: { readonly EVENT_NAME?: string | undefined; readonly EVENT_TIMEZONE: string },
  way: RouteFile,
) {
  const language = languageOfZone(s.EVENT_TIMEZONE)
  const parts: EventParts = {
    name: {
      names: { [language]: cutText(s.EVENT_NAME?.trim() || 'Pilgrimage', MAX_EVENT_NAME) },
      starts_at: null,
      ends_at: null,
    },
    contact: {
      emergency_number: emergencyNumberOf(s.EVENT_TIMEZONE),
      organiser_phone: null,
    },
    languages: { language, languages: [...BuiltInLanguage.options], translations: {} },
    route: partOfRoute(way, language),
    words: { followed: 'procession', level_names: Array.from({ length: 9 }, () => ({})) },
    notice: { organiser: null, contact: null, kept_until: null, texts: {} },
    survey: DEFAULT_SURVEY,
    messages: { welcome: {}, share: {}, about: {}, summaryTitle: {} },
    rehearsal: { on: false, cleared_at: null },
  }
  return {
    parts,
    /** Whether the environment describes the event. A route does so, with the default name. */
    isNamed: s.EVENT_NAME !== undefined || way.route !== null,
    hasName: s.EVENT_NAME !== undefined,
  }
}

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

// Admin tokens: three tiers, each with one or several (named) tokens.

export interface Token {
  readonly name: string
  readonly role: Role
  readonly value: string
}

const TIERS = [
  ['EVENT_ADMIN_TOKEN', 'owner'],
  ['EVENT_MANAGER_TOKEN', 'manager'],
  ['EVENT_VOLUNTEER_TOKEN', 'volunteer'],
] as const satisfies readonly (readonly [string, Role])[]

/** Minimum length: a shorter token can be guessed. */
const SHORTEST = 16

/**
 * Parses one entry. The text before the first colon is a name if it is shorter than any token, so a token may contain
 * a colon. If both halves could be a token, the entry is ambiguous.
 */
function parseEntry(entry: string): { readonly name: string | null; readonly value: string } | 'ambiguous' {
  const colon = entry.indexOf(':')
  const [before, after] = colon < 0 ? ['', entry] : [entry.slice(0, colon), entry.slice(colon + 1)]
  if (before.length < SHORTEST) return { name: before || null, value: after }
  return after.length < SHORTEST ? { name: null, value: entry } : 'ambiguous'
}

/** Returns the fault of an entry; null: it is valid. */
function faultOfToken(entry: ReturnType<typeof parseEntry>, tokens: readonly Token[]): string | null {
  if (entry === 'ambiguous')
    return 'which part is the token? A name has at most 15 characters; a token with a colon in it needs a name and a colon before it'
  if (entry.value === '') return 'holds an empty token; an empty token admits nobody, remove it'
  if (entry.value.length < SHORTEST)
    return `a token has at least ${SHORTEST} characters (what stands before a colon is its name); make one with: openssl rand -hex 24`
  return tokens.some(({ value }) => value === entry.value)
    ? 'a token may stand in one place only, or its level would be ambiguous'
    : null
}

/**
 * Parses `token` or `name:token,name:token` of each tier. An empty variable admits nobody.
 * Adds a fault, without the token itself, for a token that is empty, short, ambiguous or repeated.
 */
export function parseTokens(env: Record<(typeof TIERS)[number][0], string>, faults: string[]): Token[] {
  const tokens: Token[] = []
  for (const [variable, role] of TIERS) {
    if (env[variable] === '') continue
    for (const part of env[variable].split(',')) {
      const entry = parseEntry(part.trim())
      const fault = faultOfToken(entry, tokens)
      if (fault !== null) faults.push(`${variable}: ${fault}`)
      else if (entry !== 'ambiguous') tokens.push({ name: entry.name ?? role, role, value: entry.value })
    }
  }
  return tokens
}

/** Push services of Chrome and most browsers on Android, Firefox, Safari and Edge. */
const KNOWN_PUSH_SERVICES =
  'fcm.googleapis.com,*.push.services.mozilla.com,*.push.apple.com,*.notify.windows.com'

export interface PushSettings {
  /** VAPID key pair, base64url. The private key may be empty in a process that does not send. */
  readonly publicKey: string
  readonly privateKey: string
  /** How a push service can contact the organisers: `mailto:` or `https:`. */
  readonly subject: string
  /** Hosts that subscriptions may name; `*.` stands for any subdomain. */
  readonly services: readonly string[]
}

interface Given {
  readonly EVENT_PUSH_PUBLIC_KEY: string
  readonly EVENT_PUSH_PRIVATE_KEY: string
  readonly EVENT_PUSH_SUBJECT: string
  readonly EVENT_PUSH_SERVICES: string
}

const SERVICE = /^(\*\.)?[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?(:\d{1,5})?$/

/** A name in the public DNS: not an address, a single label, or a name reserved for local use (RFC 6761 and 6762). */
const PUBLIC_HOST =
  /^(?!.*\.(?:localhost|local|invalid|test|internal)\.?$)(?:[^.[\]]+\.)+[a-z][a-z0-9-]*\.?$/i

/** @returns null without keys: Web Push is off. Adds any fault to `faults` */
export function readPush(
  given: Given,
  publicUrl: string,
  isBot: boolean,
  faults: string[],
): PushSettings | null {
  const { EVENT_PUSH_PUBLIC_KEY: publicKey, EVENT_PUSH_PRIVATE_KEY: privateKey } = given
  if (publicKey === '' && privateKey === '') return null
  const subject = given.EVENT_PUSH_SUBJECT || publicUrl
  const services = (given.EVENT_PUSH_SERVICES || KNOWN_PUSH_SERVICES)
    .split(',')
    .map((host) => host.trim().toLowerCase())
  if (publicKey === '')
    faults.push('EVENT_PUSH_PUBLIC_KEY: is missing; bun run push:keys makes a pair of keys')
  else if ((isBot || privateKey !== '') && publicKeyOf(privateKey) !== publicKey)
    faults.push(
      'EVENT_PUSH_PRIVATE_KEY: does not belong to EVENT_PUSH_PUBLIC_KEY; bun run push:keys makes a pair of keys',
    )
  const host = /^(?:mailto:[^\s@]+@|https:\/\/)([^\s@/:]+|\[[^\]]+\])/.exec(subject)?.[1]
  if (host === undefined) faults.push('EVENT_PUSH_SUBJECT: must begin with mailto: or https://')
  else if (!PUBLIC_HOST.test(host))
    faults.push(
      `EVENT_PUSH_SUBJECT: ${host} is no public name, and Apple refuses such a subject; set mailto: and an address that reaches you`,
    )
  if (!services.every((host) => SERVICE.test(host)))
    faults.push('EVENT_PUSH_SERVICES: must be host names such as fcm.googleapis.com or *.push.apple.com')
  return { publicKey, privateKey, subject, services }
}

/** The public key of a private one; null if it is invalid. */
function publicKeyOf(privateKey: string): string | null {
  if (!/^[A-Za-z0-9_-]{43}$/.test(privateKey)) return null
  const pair = createECDH('prime256v1')
  try {
    pair.setPrivateKey(privateKey, 'base64url')
  } catch {
    return null
  }
  return pair.getPublicKey('base64url')
}

// The event's area, from a GeoJSON file. Points outside it are stored and flagged, but not counted.

const Ring = z.array(z.array(z.number()).min(2)).min(4)
const Polygon = z.object({ type: z.literal('Polygon'), coordinates: z.array(Ring).min(1) })
const MultiPolygon = z.object({ type: z.literal('MultiPolygon'), coordinates: z.array(z.array(Ring).min(1)) })
const Geometry = z.union([Polygon, MultiPolygon])
const Feature = z.object({ type: z.literal('Feature'), geometry: Geometry })
const Area = z.union([
  Geometry,
  Feature,
  z.object({ type: z.literal('FeatureCollection'), features: z.array(Feature).min(1) }),
])

/** Whether a position is inside the event's area. */
export type InArea = (lat: number, lng: number) => boolean

/** Reads the area's file; without a file every position is inside. Adds a fault if the file is invalid. */
export function readArea(file: string, faults: string[]): InArea {
  if (file === '') return () => true
  try {
    const area = Area.parse(JSON.parse(readFileSync(file, 'utf8')))
    const geometries =
      area.type === 'FeatureCollection'
        ? area.features.map((feature) => feature.geometry)
        : [area.type === 'Feature' ? area.geometry : area]
    return (lat, lng) => geometries.some((geometry) => booleanPointInPolygon([lng, lat], geometry))
  } catch (error) {
    const reason = error instanceof z.ZodError ? 'is not a GeoJSON polygon' : String(error)
    faults.push(`EVENT_AREA: ${reason}`)
    return () => true
  }
}
