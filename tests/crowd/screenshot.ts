/** A picture like a screenshot of an app, drawn from a seed: a PNG of a map with a way on it. */
import { crc32, deflateSync } from 'node:zlib'
import { createRandom } from '../replay/plan-requests.ts'

const WIDTH = 180
const HEIGHT = 320

/** Draws it. */
export function drawScreenshot(seed: number): Uint8Array<ArrayBuffer> {
  const random = createRandom(seed)
  const ground = [200 + 40 * random(), 205 + 40 * random(), 195 + 40 * random()]
  const [swing, phase, from] = [10 + 40 * random(), 6 * random(), 40 + 100 * random()]
  const pixels = Buffer.alloc(HEIGHT * (1 + 3 * WIDTH))
  for (let y = 0; y < HEIGHT; y++)
    for (let x = 0; x < WIDTH; x++) {
      const wayX = from + swing * Math.sin(y / 38 + phase)
      const isBar = y < 28 || y > HEIGHT - 40
      const isWay = Math.abs(x - wayX) < 3
      const isHere = Math.hypot(x - wayX, y - 170) < 9
      const color = isBar ? [120, 20, 30] : isHere ? [20, 90, 220] : isWay ? [220, 60, 40] : ground
      pixels.set(color.map(Math.round), y * (1 + 3 * WIDTH) + 1 + 3 * x)
    }
  return png(pixels)
}

function png(pixels: Buffer): Uint8Array<ArrayBuffer> {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(WIDTH, 0)
  header.writeUInt32BE(HEIGHT, 4)
  // Eight bits a channel, RGB.
  header.set([8, 2, 0, 0, 0], 8)
  return new Uint8Array(
    Buffer.concat([
      Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
      chunk('IHDR', header),
      chunk('IDAT', deflateSync(pixels)),
      chunk('IEND', Buffer.alloc(0)),
    ]),
  )
}

function chunk(name: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(name, 'ascii'), data])
  const frame = Buffer.alloc(body.length + 8)
  frame.writeUInt32BE(data.length, 0)
  frame.set(body, 4)
  frame.writeUInt32BE(crc32(body), body.length + 4)
  return frame
}
