// @vercel/og: draws a tree as often as asked, and tells how many a second.
// Arguments: file with the tree and fonts, times
import { readFileSync } from 'node:fs'
import { ImageResponse } from '@vercel/og'

const [file, times] = process.argv.slice(2)
const { element, width, height, fonts } = JSON.parse(readFileSync(file, 'utf8'))
const loaded = fonts.map((font) => ({ ...font, data: Buffer.from(font.data, 'base64') }))
const draw = async () =>
  (await new ImageResponse(element, { width, height, fonts: loaded }).arrayBuffer()).byteLength
await draw()
const started = performance.now()
for (let i = 0; i < Number(times); i++) if ((await draw()) < 10_000) throw new Error('an empty card')
console.log(JSON.stringify({ perSecond: (1_000 * Number(times)) / (performance.now() - started) }))
