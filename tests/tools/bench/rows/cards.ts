/** Share cards, compared with resvg alone and @vercel/og. */
import { join } from 'node:path'
import { Resvg } from '@resvg/resvg-js'
import satori from 'satori'
import { cardOf } from '#services/feedback-media/cards/card-layout.ts'
import { openRenderer } from '#shared/runtime/picture-renderer/renderer.ts'
import { typeset } from '#shared/runtime/picture-renderer/typesetting.ts'
import { CARD_SIZE } from '#shared/contracts/cards.ts'
import { newDirectory, runCommand } from '#tests/helpers/process.ts'
import { factsOf, routeOf } from '../cards/sample.ts'
import type { Row } from '../measure.ts'
import { installPeers } from '../peers/install.ts'

const CARDS = 10

async function perSecond(times: number, draw: (i: number) => Promise<unknown>): Promise<number> {
  const started = performance.now()
  for (let i = 0; i < times; i++) await draw(i)
  return (1_000 * times) / (performance.now() - started)
}

/** The card that all draw, without emoji, which the peer fetches from the internet. */
const card = () => cardOf({ ...factsOf(4), displayName: 'Walker' }, routeOf(4))
const EMOJI = /\p{Extended_Pictographic}\ufe0f?/gu
const withoutEmoji = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (_, held: unknown) =>
      typeof held === 'string' ? held.replaceAll(EMOJI, '') : held,
    ),
  )

async function writePeersOrder(): Promise<string> {
  const { element, fonts } = typeset(card())
  const order = {
    element: withoutEmoji(element),
    ...CARD_SIZE,
    fonts: fonts.map((font) => ({ ...font, data: Buffer.from(font.data).toString('base64') })),
  }
  const file = join(await newDirectory('card'), 'order.json')
  await Bun.write(file, JSON.stringify(order))
  return file
}

export const shareCards: Row = {
  id: 'share-card',
  title: 'share cards',
  unit: 'cards/s',
  peers: true,
  async open(scale) {
    const times = Math.max(1, Math.round(CARDS * scale.share))
    const renderer = openRenderer()
    const { element, fonts, graphemeImages } = typeset(card())
    const options = { ...CARD_SIZE, fonts: [...fonts], graphemeImages }
    const svg = await satori(element as Parameters<typeof satori>[0], options)
    const [dir, order] = await Promise.all([installPeers(), writePeersOrder()])
    await renderer.renderPng(card(), CARD_SIZE)
    const node = Bun.which('node') ?? process.execPath
    return {
      contenders: [
        {
          name: 'renderer',
          role: 'ours',
          measure: () => perSecond(times, () => renderer.renderPng(card(), CARD_SIZE)),
        },
        {
          name: 'resvg alone, the same SVG',
          role: 'limit',
          measure: () =>
            perSecond(times, async () =>
              new Resvg(svg, { font: { loadSystemFonts: false } }).render().asPng(),
            ),
        },
        {
          name: '@vercel/og on Node',
          role: 'peer',
          async measure() {
            const command = [node, join(dir, 'og.mjs'), order, `${times}`]
            const { code, out, err } = await runCommand(command, { cwd: dir })
            if (code !== 0) throw new Error(`@vercel/og failed:\n${err}`)
            return (JSON.parse(out.trim().split('\n').at(-1)!) as { perSecond: number }).perSecond
          },
        },
      ],
      goals: [
        { of: 'resvg alone, the same SVG', atLeast: 0.75 },
        { of: '@vercel/og on Node', atLeast: 1 },
      ],
      close: () => renderer.close(),
    }
  },
}
