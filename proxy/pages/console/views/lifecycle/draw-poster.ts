/** Draws the poster of an event: A4, in the light colours of paper. It is a separate script. */
import type { PosterWords } from '#shared/locales/words.ts'
import qr from 'qr'
import { fontOf, onPaper, wrapped } from '../../parts/picture.ts'

export interface Poster {
  readonly name: string
  /** The days of the event; null: unknown. */
  readonly days: string | null
  readonly walkUrl: string
  readonly mapUrl: string
  readonly emergencyNumber: string | null
  readonly organiserPhone: string | null
}

/** Size of the drawing: A4 at 96 dpi. */
const [WIDTH, HEIGHT] = [794, 1_123]
/** Device pixels per unit: 240 dpi. */
const DENSITY = 2.5
const PAD = 56

export async function drawPoster(poster: Poster, words: PosterWords): Promise<HTMLCanvasElement> {
  const canvas = document.createElement('canvas')
  canvas.width = Math.round(WIDTH * DENSITY)
  canvas.height = Math.round(HEIGHT * DENSITY)
  const context = canvas.getContext('2d')!
  context.scale(DENSITY, DENSITY)
  context.fillStyle = '#fff'
  context.fillRect(0, 0, WIDTH, HEIGHT)
  context.textAlign = 'center'
  context.textBaseline = 'middle'
  let y = PAD
  /** Writes lines below each other, each wrapped to the width. */
  const write = (text: string, size: number, weight: number, room: number, x = WIDTH / 2, most = 3): void => {
    context.font = fontOf(size, weight)
    for (const line of wrapped(context, text, room).slice(0, most)) {
      context.fillText(line, x, y + size * 0.65)
      y += size * 1.3
    }
  }
  context.fillStyle = onPaper('ink')
  write(poster.name, 58, 700, WIDTH - 2 * PAD)
  context.fillStyle = onPaper('soft')
  if (poster.days !== null) write(poster.days, 24, 400, WIDTH - 2 * PAD)
  y += 14
  context.fillStyle = onPaper('ink')
  write(words.join, 32, 600, WIDTH - 2 * PAD)

  y += 26
  const [top, third] = [y, (WIDTH - 2 * PAD) / 3]
  for (const [i, text] of words.steps.entries()) {
    const x = PAD + third * (i + 0.5)
    PICTURES[i]!(context, x, top + 62)
    y = top + 140
    context.fillStyle = onPaper('ink')
    write(`${i + 1}. ${text}`, 21, 600, third - 20, x)
  }

  const qrTop = Math.max(y, top + 225) + 20
  const side = 300
  drawCode(context, poster.walkUrl, PAD + 20, qrTop, side)
  drawCode(context, poster.mapUrl, WIDTH - PAD - 250, qrTop + 70, 230)
  for (const [text, url, x, room] of [
    [words.walk, poster.walkUrl, PAD + 20 + side / 2, 360],
    [words.map, poster.mapUrl, WIDTH - PAD - 135, 290],
  ] as const) {
    y = qrTop + side + 14
    context.fillStyle = onPaper('ink')
    write(text, 26, 700, room, x, 2)
    context.fillStyle = onPaper('soft')
    write(url.replace(/^https:\/\//, ''), 16, 400, room, x, 2)
  }
  const help = [
    poster.emergencyNumber === null ? null : words.emergency(poster.emergencyNumber),
    poster.organiserPhone === null ? null : words.organiser(poster.organiserPhone),
  ].filter((text) => text !== null)
  context.fillStyle = onPaper('ink')
  y = HEIGHT - PAD - 32
  write(help.join(' · '), 24, 600, WIDTH - 2 * PAD, WIDTH / 2, 1)
  return canvas
}

function drawCode(context: CanvasRenderingContext2D, url: string, x: number, y: number, side: number): void {
  const rows = qr(url, 'raw')
  const unit = side / rows.length
  context.fillStyle = '#000'
  for (const [row, cells] of rows.entries())
    for (const [column, isDark] of cells.entries())
      // Slightly wider than its cell, so that no white line appears between two.
      if (isDark) context.fillRect(x + column * unit, y + row * unit, unit + 0.2, unit + 0.2)
}

/** Pictogram of a step around a centre, about 110 units high. */
type Picture = (context: CanvasRenderingContext2D, x: number, y: number) => void

const phone: Picture = (context, x, y) => {
  context.strokeStyle = onPaper('ink')
  context.lineWidth = 4
  context.beginPath()
  context.roundRect(x - 32, y - 55, 64, 110, 10)
  context.stroke()
}

const PICTURES: readonly Picture[] = [
  (context, x, y) => {
    phone(context, x, y)
    context.fillStyle = onPaper('ink')
    for (const [dx, dy] of [
      [-18, -22],
      [4, -22],
      [-18, 0],
      [4, 0],
    ] as const)
      context.fillRect(x + dx, y + dy, 14, 14)
  },
  (context, x, y) => {
    phone(context, x, y)
    context.strokeStyle = onPaper('good')
    context.lineWidth = 7
    context.beginPath()
    context.moveTo(x - 16, y)
    context.lineTo(x - 4, y + 13)
    context.lineTo(x + 18, y - 15)
    context.stroke()
  },
  (context, x, y) => {
    phone(context, x, y)
    context.fillStyle = onPaper('accent')
    context.beginPath()
    context.arc(x, y + 4, 22, 0, 2 * Math.PI)
    context.fill()
    context.strokeStyle = '#fff'
    context.lineWidth = 3
    context.beginPath()
    context.arc(x, y + 4, 15, 0, 2 * Math.PI)
    context.stroke()
  },
]

/** Size of A4 in points, the unit of PDF. */
const A4 = [595.28, 841.89] as const

/** A PDF of one page filled by a picture (ISO 32000-1, sections 7.3, 7.5 and 8.9). */
export async function pdfOf(canvas: HTMLCanvasElement): Promise<Blob> {
  const picture = await blobOf(canvas, 'image/jpeg')
  const [width, height] = A4
  const content = `q ${width} 0 0 ${height} 0 0 cm /P Do Q`
  const objects: BlobPart[][] = [
    ['<< /Type /Catalog /Pages 2 0 R >>'],
    ['<< /Type /Pages /Kids [3 0 R] /Count 1 >>'],
    [
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${width} ${height}] /Contents 4 0 R /Resources << /XObject << /P 5 0 R >> >> >>`,
    ],
    [`<< /Length ${content.length} >>\nstream\n${content}\nendstream`],
    [
      `<< /Type /XObject /Subtype /Image /Width ${canvas.width} /Height ${canvas.height} /ColorSpace /DeviceRGB /BitsPerComponent 8 /Filter /DCTDecode /Length ${picture.size} >>\nstream\n`,
      picture,
      '\nendstream',
    ],
  ]
  const parts: BlobPart[] = ['%PDF-1.4\n']
  const offsets: number[] = []
  for (const [i, object] of objects.entries()) {
    offsets.push(new Blob(parts).size)
    parts.push(`${i + 1} 0 obj\n`, ...object, '\nendobj\n')
  }
  const start = new Blob(parts).size
  const table = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('')
  parts.push(
    `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${table}`,
    `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${start}\n%%EOF\n`,
  )
  return new Blob(parts, { type: 'application/pdf' })
}

/** @throws if the browser cannot encode it */
export const blobOf = (canvas: HTMLCanvasElement, type: 'image/jpeg' | 'image/png'): Promise<Blob> =>
  new Promise((resolve, reject) => {
    canvas.toBlob((blob) => (blob === null ? reject(new Error(`no ${type}`)) : resolve(blob)), type, 0.92)
  })
