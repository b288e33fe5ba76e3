/**
 * Places along the way on the public map: badges, and a list of them below the stations. A script of its own, which is
 * loaded after the first view: so it imports nothing that the page itself uses.
 */
import type { ReadonlySignal, Signal } from '@preact/signals'
import type { EventRoute } from '#shared/client/index.ts'
import type { BuiltInLanguage, Language } from '#shared/contracts/bot.ts'
import type { PlacesWords } from '#shared/locales/words.ts'
import { PLACE_ICONS } from '../design/place-icons.ts'
import { drawPlaces } from './draw-places.ts'
import type { Scene } from './painter.ts'

const WORDS = {
  'zh-Hant': () => import('#shared/locales/zh-hant/places.ts'),
  'zh-Hans': () => import('#shared/locales/zh-hans/places.ts'),
  ja: () => import('#shared/locales/ja/places.ts'),
  en: () => import('#shared/locales/en/places.ts'),
} satisfies Record<BuiltInLanguage, () => Promise<{ readonly words: PlacesWords }>>

type WordsIn = (
  language: Language,
  path: string,
  files: typeof WORDS,
) => Promise<{ readonly words: PlacesWords }>

type Places = NonNullable<EventRoute['places']>

const NONE: Places = []
const placesOf = (route: EventRoute | null): Places => route?.places ?? NONE

/**
 * Shows the places of the route, and follows route and language.
 * @param over what the map draws over the crowd
 */
export function showPlaces(
  route: ReadonlySignal<EventRoute | null>,
  language: ReadonlySignal<Language>,
  over: Signal<Scene['over']>,
  wordsIn: WordsIn,
  worldX: (lng: number) => number,
  worldY: (lat: number) => number,
): void {
  const section = document.createElement('section')
  section.className = 'stack tight places'
  // Last, also where the page draws the panel or its own parts later. The display on a wall has no panel.
  const attach = (): void => {
    const panel = document.querySelector('.details')
    if (panel !== null && panel.lastElementChild !== section) panel.append(section)
  }
  const redrawn = new MutationObserver(attach)
  const list = async (places: Places): Promise<void> => {
    const reader = language.peek()
    // Without a network the words are loaded at the next change.
    const loaded = await wordsIn(reader, 'places', WORDS).catch(() => null)
    if (loaded === null || places !== placesOf(route.peek()) || reader !== language.peek()) return
    section.replaceChildren(...listOf(places, loaded.words, reader))
    attach()
    redrawn.observe(document.body, { childList: true, subtree: true })
  }
  const show = (): void => {
    const places = placesOf(route.peek())
    const placed = places.map((place) => ({ ...place, x: worldX(place.lng), y: worldY(place.lat) }))
    over.value = placed.length === 0 ? undefined : (...canvas) => drawOn(canvas, placed)
    if (placed.length > 0) void list(places)
    else {
      redrawn.disconnect()
      section.remove()
    }
  }
  route.subscribe(show)
  language.subscribe(show)
}

const drawOn = (
  [context, view, colour]: Parameters<NonNullable<Scene['over']>>,
  placed: Parameters<typeof drawPlaces>[2],
): void => drawPlaces(context, view, placed, colour)

function element<N extends keyof HTMLElementTagNameMap>(
  name: N,
  className: string,
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[N] {
  const made = document.createElement(name)
  made.className = className
  made.append(...children)
  return made
}

function iconOf(kind: keyof typeof PLACE_ICONS): SVGElement {
  const icon = document.createElementNS('http://www.w3.org/2000/svg', 'svg')
  const attributes = {
    viewBox: '0 0 24 24',
    width: '20',
    height: '20',
    fill: 'currentColor',
    'aria-hidden': 'true',
  }
  for (const [name, value] of Object.entries(attributes)) icon.setAttribute(name, value)
  const path = document.createElementNS('http://www.w3.org/2000/svg', 'path')
  path.setAttribute('d', PLACE_ICONS[kind])
  path.setAttribute('fill-rule', 'evenodd')
  icon.append(path)
  icon.style.verticalAlign = 'middle'
  return icon
}

/** The legend: a row for each kind with its number of places, which opens the places in the order of the route. */
function listOf(places: Places, { title, kinds, fromStart }: PlacesWords, reader: Language): Node[] {
  const figure = new Intl.NumberFormat(reader, { maximumFractionDigits: 1 })
  const known = Object.keys(PLACE_ICONS) as (keyof typeof PLACE_ICONS)[]
  return [
    element('h2', '', title),
    ...known.flatMap((kind) => {
      const ofKind = places.filter((place) => place.kind === kind)
      if (ofKind.length === 0) return []
      const rows = ofKind.map(({ name, names, route_km: km, hours }) => {
        const details = [fromStart(figure.format(km)), hours].filter((text) => text !== null).join(' · ')
        const text = element('span', 'grow', names[reader] ?? name ?? kinds[kind])
        text.append(element('span', 'small quiet block', details))
        return element('li', '', text)
      })
      return element(
        'details',
        'folded',
        element('summary', '', iconOf(kind), ` ${kinds[kind]} · ${ofKind.length}`),
        element('ul', 'rows', ...rows),
      )
    }),
  ]
}
