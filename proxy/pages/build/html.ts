/** The HTML of a page. */
import { escapeMarkup } from '#shared/service/http/escape-markup.ts'
import { RELEASE } from '#shared/runtime/release.ts'
import type { PageEntry } from '../pages.ts'
import type { PageData } from '../frame/page-data.ts'
import { Resvg } from '@resvg/resvg-js'
import { emblem } from '#shared/core/rules/emblems.ts'

interface Head {
  readonly page: PageEntry
  readonly data: PageData
  readonly publicUrl: string
  readonly script: string
  /** Scripts that the first one imports. */
  readonly imports: readonly string[]
  readonly style: string
  readonly icon: string
  readonly touchIcon: string
  readonly picture: string
}

/** JSON inside a `script` element, escaped so that it contains no `</script>` and no `<!--`. */
const embedded = (data: unknown): string => JSON.stringify(data).replaceAll('<', '\\u003c')

const meta = (name: string, content: string): string =>
  `<meta ${name.startsWith('og:') ? 'property' : 'name'}="${name}" content="${escapeMarkup(content)}">`

/** The whole document. Its text is for readers without scripts and for previews in messengers. */
export function pageHtml(head: Head): string {
  const { page, data, publicUrl } = head
  const title = page.title.replace('%s', () => data.name)
  const { zh, en } = page.description
  const description = zh !== undefined && data.language.startsWith('zh') ? `${zh} · ${en}` : en
  const lines = [
    '<!doctype html>',
    `<html lang="${data.language}">`,
    '<head>',
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">',
    `<title>${escapeMarkup(title)}</title>`,
    meta('description', description),
    meta('version', RELEASE),
    '<meta name="theme-color" media="(prefers-color-scheme: light)" content="#f6efe0">',
    '<meta name="theme-color" media="(prefers-color-scheme: dark)" content="#061816">',
    meta('og:type', 'website'),
    meta('og:title', title),
    meta('og:description', description),
    meta('og:url', `${publicUrl}${page.path}`),
    meta('og:image', `${publicUrl}${head.picture}`),
    `<link rel="icon" type="image/svg+xml" href="${head.icon}">`,
    `<link rel="apple-touch-icon" href="${head.touchIcon}">`,
    ...(page.app === undefined ? [] : [`<link rel="manifest" href="${page.path}manifest.webmanifest">`]),
    `<link rel="stylesheet" href="${head.style}">`,
    `<script type="module" src="${head.script}"></script>`,
    ...head.imports.map((path) => `<link rel="modulepreload" href="${path}">`),
    ...(page.preload ?? []).map((path) => `<link rel="preload" as="fetch" crossorigin href="${path}">`),
    '</head>',
    '<body>',
    `<div id="page"><h1>${escapeMarkup(title)}</h1></div>`,
    '<noscript><p>這個頁面需要 JavaScript。 このページには JavaScript が必要です。 This page needs JavaScript.</p></noscript>',
    `<script type="application/json" id="page-data">${embedded(data)}</script>`,
    '</body>',
    '</html>',
    '',
  ]
  return lines.join('\n')
}

// Icons of the pages: the emblem of the golden core on deep jade.

const GOLD = '#f3d38a'
const LEVEL = 3

/** @param round whether the corners are rounded; otherwise the picture fills its square, as maskable icons must */
const drawing = (round: boolean): string => {
  const inner = emblem(LEVEL, GOLD, '#0d2724').replace(
    '<svg ',
    '<svg x="104" y="104" width="304" height="304" ',
  )
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 512 512"><rect width="512" height="512" rx="${round ? 96 : 0}" fill="#0d3b36"/><circle cx="256" cy="256" r="214" fill="#061816" stroke="${GOLD}" stroke-width="10"/>${inner}</svg>`
}

export const iconSvg = (): Uint8Array => new TextEncoder().encode(drawing(true))

/** A square PNG. @param width in pixels */
export const iconPng = (width: number): Uint8Array =>
  new Resvg(drawing(false), { fitTo: { mode: 'width', value: width } }).render().asPng()

/** The icon as a file with one PNG of 32 pixels, which browsers request automatically. */
export function iconIco(): Uint8Array {
  const png = iconPng(32)
  const head = new DataView(new ArrayBuffer(22))
  // One picture of type icon; its size, 32 bits per pixel, the length of its bytes and their offset.
  for (const [at, value] of [
    [2, 1],
    [4, 1],
    [10, 1],
    [12, 32],
  ] as const)
    head.setUint16(at, value, true)
  head.setUint8(6, 32)
  head.setUint8(7, 32)
  head.setUint32(14, png.length, true)
  head.setUint32(18, 22, true)
  return new Uint8Array([...new Uint8Array(head.buffer), ...png])
}
