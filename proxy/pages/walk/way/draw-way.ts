/** Draws a way with its check-ins on a canvas, with the route behind it, in the colours of the theme. */

interface Place {
  readonly lat: number
  readonly lng: number
}

export interface Drawn {
  readonly line: readonly Place[]
  readonly checkIns: readonly Place[]
  readonly route: readonly (readonly Place[])[]
}

const MARGIN = 28
/** A map shows at least this much, so that a short way is no blot. */
const MIN_DEGREES = 0.004

export function drawWay(canvas: HTMLCanvasElement, { line, checkIns, route }: Drawn): void {
  const { clientWidth: width, clientHeight: height } = canvas
  const context = canvas.getContext('2d')
  if (context === null || width === 0) return
  const scale = devicePixelRatio
  canvas.width = Math.round(width * scale)
  canvas.height = Math.round(height * scale)
  context.scale(scale, scale)
  const style = getComputedStyle(canvas)
  const colour = (name: string) => style.getPropertyValue(`--${name}`).trim()
  context.fillStyle = colour('map-land')
  context.fillRect(0, 0, width, height)
  const places = [...line, ...checkIns]
  if (places.length === 0) return
  const at = projection(places, width, height)
  context.lineJoin = context.lineCap = 'round'
  const stroke = (places: readonly Place[], name: string, thickness: number) => {
    context.beginPath()
    for (const place of places) context.lineTo(...at(place))
    context.strokeStyle = colour(name)
    context.lineWidth = thickness
    context.stroke()
  }
  for (const part of route) stroke(part, 'map-route', 3)
  stroke(line, 'map-halo', 8)
  stroke(line, 'map-walked', 4)
  const dot = (place: Place, name: string, radius: number) => {
    context.beginPath()
    context.arc(...at(place), radius, 0, 2 * Math.PI)
    context.fillStyle = colour('map-halo')
    context.fill()
    context.beginPath()
    context.arc(...at(place), radius - 2, 0, 2 * Math.PI)
    context.fillStyle = colour(name)
    context.fill()
  }
  for (const place of checkIns) dot(place, 'gold-fill', 7)
  const last = line.at(-1)
  if (last !== undefined) dot(last, 'mark-me', 10)
}

/** Mercator, centred on the places. */
function projection(
  places: readonly Place[],
  width: number,
  height: number,
): (place: Place) => [number, number] {
  const north = (lat: number) => (Math.log(Math.tan(Math.PI / 4 + (lat * Math.PI) / 360)) * 180) / Math.PI
  const [xs, ys] = [places.map(({ lng }) => lng), places.map(({ lat }) => north(lat))]
  const [west, east] = [xs.reduce((a, b) => Math.min(a, b)), xs.reduce((a, b) => Math.max(a, b))]
  const [south, top] = [ys.reduce((a, b) => Math.min(a, b)), ys.reduce((a, b) => Math.max(a, b))]
  const perDegree = Math.min(
    (width - 2 * MARGIN) / Math.max(east - west, MIN_DEGREES),
    (height - 2 * MARGIN) / Math.max(top - south, MIN_DEGREES),
  )
  const [x, y] = [(west + east) / 2, (south + top) / 2]
  return ({ lat, lng }) => [width / 2 + (lng - x) * perDegree, height / 2 - (north(lat) - y) * perDegree]
}
