/**
 * Draws the operator's vector tiles with MapLibre. A separate script, loaded only on request, so it imports nothing
 * that the page itself uses.
 */
import { addProtocol, Map as TileMap, setWorkerUrl } from 'maplibre-gl'
import { PMTiles, Protocol, TileType } from 'pmtiles'
import { type TilesStyle, tilesStyle } from './tiles-style.ts'

/** Degrees, and a zoom at which the world is 256 × 2^zoom CSS pixels wide. */
export interface Looking {
  readonly lng: number
  readonly lat: number
  readonly zoom: number
}

type Look = Pick<TilesStyle, 'colour' | 'language' | 'stations'>

interface TilesOptions extends Look {
  readonly element: HTMLElement
  /** URLs of the archive, and of MapLibre's script for its background thread. */
  readonly tiles: string
  readonly worker: string
  /** Maximum pixels per CSS pixel. */
  readonly density: number
  readonly looking: Looking
  /** The WebGL context was lost. */
  readonly onLost: () => void
}

export interface Tiles {
  /** Attribution of the data; empty: the archive has none. */
  readonly source: string
  look(looking: Looking): void
  restyle(look: Look): void
  remove(): void
}

interface Metadata {
  readonly attribution?: string
  readonly vector_layers?: readonly { readonly id: string }[]
}

const protocol = new Protocol()
addProtocol('pmtiles', protocol.tile)

/** MapLibre counts zooms for tiles of 512 pixels. */
const cameraOf = ({ lng, lat, zoom }: Looking) => ({ center: [lng, lat] as [number, number], zoom: zoom - 1 })

/** @throws Error when the archive cannot be read, or nothing can be drawn */
export async function drawTiles(options: TilesOptions): Promise<Tiles> {
  const { element, worker, density, looking, onLost } = options
  const address = new URL(options.tiles, location.href).href
  const archive = new PMTiles(address)
  const { tileType } = await archive.getHeader()
  if (tileType !== TileType.Mvt && tileType !== TileType.Mlt)
    throw new Error('The archive has no vector tiles.')
  const { attribution = '', vector_layers: found = [] } = (await archive.getMetadata()) as Metadata
  const layers = new Set(found.map(({ id }) => id))
  protocol.add(archive)
  setWorkerUrl(worker)
  const map = new TileMap({
    container: element,
    style: tilesStyle({ address, layers, ...options }),
    ...cameraOf(looking),
    interactive: false,
    attributionControl: false,
    fadeDuration: 0,
    pixelRatio: Math.min(density, devicePixelRatio || 1),
  })
  try {
    await new Promise((resolve, reject) => {
      map.once('load', resolve)
      // After the start, a missing tile leaves its place empty until it is requested again.
      map.on('error', ({ error }) => reject(error))
    })
  } catch (error) {
    map.remove()
    throw error
  }
  map.on('webglcontextlost', onLost)
  return {
    source: textOf(attribution),
    look: (next) => map.jumpTo(cameraOf(next)),
    restyle: (look) => map.setStyle(tilesStyle({ address, layers, ...look })),
    remove: () => map.remove(),
  }
}

/** The text of an HTML fragment, which is never inserted as HTML. */
const textOf = (html: string): string =>
  new DOMParser().parseFromString(html, 'text/html').body.textContent.trim()
