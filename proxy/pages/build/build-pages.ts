/** Builds all pages into files: deterministic, so that the same sources and settings give the same bytes. */
import type { Config } from '#shared/runtime/config/config.ts'
import { type Atlas as Shapes, type Box, TAIWAN, counties, towns } from '#shared/runtime/taiwan.ts'
import type { Event } from '#shared/pilgrims/event-settings.ts'
import type { Position } from 'geojson'
import { readFileSync } from 'node:fs'
import { type Bundle, bundlePage, bundleWorker } from './bundle.ts'
import { iconIco, iconPng, iconSvg, pageHtml } from './html.ts'
import { mapTilesOf } from './map-tiles.ts'
import type { PageData } from '../frame/page-data.ts'
import type { Atlas, Lines } from '../map/shapes.ts'
import { PAGES, type PageEntry } from '../pages.ts'

/** Every file, by its path on the server. A page is `…/index.html`. */
export type Site = ReadonlyMap<string, Uint8Array>

const FROM_SETTINGS = ['identity', 'publicUrl', 'checkinUrl', 'surveyUrl', 'timeZone', 'mapTiles'] as const
const FROM_EVENT = ['name', 'language', 'languages', 'route'] as const

export type PageSettings = Pick<Config, (typeof FROM_SETTINGS)[number]>
export type PageEvent = Pick<Event, (typeof FROM_EVENT)[number]>
type NamedSettings = PageSettings & PageEvent

/** @returns a short text that changes with every input of the build */
export const siteKey = (settings: PageSettings, event: PageEvent): string =>
  Bun.hash(
    JSON.stringify([FROM_SETTINGS.map((name) => settings[name]), FROM_EVENT.map((name) => event[name])]),
  ).toString(36)

interface Shared {
  readonly icon: string
  readonly touchIcon: string
  readonly picture: string
  /** URL of the archive of map tiles; null: the event has none. */
  readonly tiles: string | null
}

/**
 * Share links (`/s/`) are not excluded: their pages say `noindex`, which a bot must be allowed to read, and the bots
 * that create previews in chats obey this file.
 */
const ROBOTS = 'User-agent: *\nAllow: /api/event/og/\nDisallow: /api/\nAllow: /\n'

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text)

/** Adds a file under a name that contains a hash of its content. @returns its path */
function addHashed(site: Map<string, Uint8Array>, name: string, ending: string, bytes: Uint8Array): string {
  const path = `/assets/${name}-${Bun.hash(bytes).toString(36)}.${ending}`
  site.set(path, bytes)
  return path
}

/** @param event its settings that are written into the pages */
export async function buildPages(settings: PageSettings, event: PageEvent): Promise<Site> {
  const { name, language, languages, route } = event
  const site = new Map<string, Uint8Array>()
  const shared: Shared = {
    icon: addHashed(site, 'icon', 'svg', iconSvg()),
    touchIcon: addHashed(site, 'icon', 'png', iconPng(192)),
    picture: addHashed(site, 'icon-large', 'png', iconPng(512)),
    tiles: (await mapTilesOf(settings))?.path ?? null,
  }
  site.set('/robots.txt', utf8(ROBOTS))
  site.set('/favicon.ico', iconIco())
  for (const page of PAGES)
    await addPage(site, page, { ...settings, name, language, languages, route }, shared)
  return site
}

async function addPage(
  site: Map<string, Uint8Array>,
  page: PageEntry,
  settings: NamedSettings,
  shared: Shared,
): Promise<void> {
  const hasTiles = page.detailedMap === true && shared.tiles !== null
  const files: Record<string, string> = {}
  for (const name of page.data ?? []) {
    const text = DATA_FILES[name]!(settings)
    if (text !== null) files[name] = addHashed(site, name, 'json', utf8(text))
  }
  const bundle = await bundlePage(page, {
    HAS_TILES: String(hasTiles),
    DATA_FILES: JSON.stringify(files),
  })
  if (page.byService) {
    // The service does not know hashes of the build.
    for (const [path, bytes] of bundle.files) {
      const name = path === bundle.script ? 'page.js' : path === bundle.style ? 'page.css' : null
      site.set(name === null ? path : page.path + name, bytes)
    }
    return
  }
  for (const [path, bytes] of bundle.files) site.set(path, bytes)
  const onRequest = hasTiles ? { tiles: shared.tiles, tilesWorker: addTilesWorker(site) } : {}
  const html = pageHtml({
    page,
    data: pageDataOf(settings, { ...files, ...onRequest }),
    publicUrl: settings.publicUrl,
    script: bundle.script,
    imports: bundle.imports,
    style: bundle.style,
    ...shared,
  })
  site.set(`${page.path}index.html`, utf8(html))
  if (page.app !== undefined)
    site.set(`${page.path}manifest.webmanifest`, utf8(manifest(page, settings.name, shared)))
  if (page.offline)
    site.set(
      `${page.path}sw.js`,
      await bundleWorker(
        page,
        html,
        precached(page, bundle, [...Object.values(files), shared.icon], settings),
      ),
    )
}

/** MapLibre's script for its background thread, which must be a separate file. Its source map is not served. */
const addTilesWorker = (site: Map<string, Uint8Array>): string => {
  const file = new URL(import.meta.resolve('maplibre-gl/dist/maplibre-gl-worker.mjs'))
  const script = readFileSync(file, 'utf8').replace(/\n\/\/# sourceMappingURL=.*\s*$/, '\n')
  return addHashed(site, 'map-worker', 'js', utf8(script))
}

/** Files that a page needs to open without a network. */
function precached(
  { folder, onlineOnly = [], lineOnly = [] }: PageEntry,
  bundle: Bundle,
  others: readonly string[],
  { identity }: PageSettings,
): string[] {
  const left = [...onlineOnly, ...(identity === 'line' ? [] : lineOnly)]
  const later = bundle.later.filter(
    (path) => !left.some((name) => path.startsWith(`/assets/${folder}-${name}-`)),
  )
  return [bundle.script, bundle.style, ...bundle.imports, ...later, ...others]
}

function pageDataOf(settings: NamedSettings, files: Readonly<Record<string, string>>): PageData {
  /** Null for a page of this service. */
  const elsewhere = (url: string) => (url.startsWith(`${settings.publicUrl}/walk/`) ? null : url)
  return {
    name: settings.name,
    timeZone: settings.timeZone,
    language: settings.language,
    languages: settings.languages,
    checkinUrl: elsewhere(settings.checkinUrl),
    surveyUrl: elsewhere(settings.surveyUrl),
    files,
  }
}

const manifest = (page: PageEntry, name: string, { icon, touchIcon, picture }: Shared): string =>
  JSON.stringify({
    name: page.title.replace('%s', () => name),
    short_name: page.app!.shortName.replace('%s', () => name),
    id: page.path,
    start_url: page.path,
    scope: page.path,
    display: page.app!.display,
    background_color: '#061816',
    theme_color: '#0d2724',
    icons: [
      { src: icon, type: 'image/svg+xml', sizes: 'any' },
      { src: touchIcon, type: 'image/png', sizes: '192x192', purpose: 'any' },
      { src: picture, type: 'image/png', sizes: '512x512', purpose: 'maskable' },
    ],
  })

// Data files of pages, by name. Each function creates the file's text; null: this event has none.

type DataFile = (settings: Pick<NamedSettings, 'route' | 'timeZone'>) => string | null

/** Degrees around the route whose towns are shown: about 12 km. */
const AROUND = 0.11
/** Miaoli to Chiayi, where the pilgrimages of the west coast walk. Default for an event without a route. */
const WEST_COAST: Box = [120.1, 23.4, 120.9, 24.75]

/** The part of Taiwan that the event walks through; null for an event elsewhere. */
function corridor({ route, timeZone }: Parameters<DataFile>[0]): Box | null {
  const places = route?.lines.flat() ?? []
  if (places.length === 0) return timeZone === 'Asia/Taipei' ? WEST_COAST : null
  const [lngs, lats] = [places.map(({ lng }) => lng), places.map(({ lat }) => lat)]
  const [west, east] = [Math.min(...lngs), Math.max(...lngs)]
  const [south, north] = [Math.min(...lats), Math.max(...lats)]
  const inTaiwan = west < TAIWAN[2] && east > TAIWAN[0] && south < TAIWAN[3] && north > TAIWAN[1]
  return inTaiwan ? [west - AROUND, south - AROUND, east + AROUND, north + AROUND] : null
}

const DATA_FILES: Readonly<Record<string, DataFile>> = {
  counties: (settings) => (corridor(settings) === null ? null : JSON.stringify(countiesFile())),
  towns: (settings) => {
    const box = corridor(settings)
    return box === null ? null : JSON.stringify(townsFile(box))
  },
}

/** Tolerance of the atlas's simplified lines in metres. */
const TOLERANCE_M = 100
const CORRIDOR_TOLERANCE_M = 60
/** Units of the files: 1e-4 degrees, about 11 m. */
const UNITS = 1e4

/** Flat lists: longitude and latitude of the first place in 1e-4 degrees, then differences. */
const coded = (lines: readonly (readonly Position[])[]): Lines =>
  lines.map((line) => {
    let [x, y] = [0, 0]
    return line.flatMap(([lng, lat], i) => {
      const [nextX, nextY] = [Math.round(lng! * UNITS), Math.round(lat! * UNITS)]
      const step = [nextX - x, nextY - y]
      ;[x, y] = [nextX, nextY]
      return i > 0 && step[0] === 0 && step[1] === 0 ? [] : step
    })
  })

const inUnits = ([lng, lat]: Position) => [Math.round(lng! * UNITS), Math.round(lat! * UNITS)] as const

const fileOf = ({ land, lines, names }: Shapes): Atlas => ({
  land: coded(land),
  lines: coded(lines),
  names: names.map(({ zh, hans, en, at }) => [zh, hans, en, ...inUnits(at)]),
})

const countiesFile = (): Atlas => fileOf(counties(TOLERANCE_M))

const townsFile = (box: Box): Atlas => fileOf(towns(box, CORRIDOR_TOLERANCE_M))
