/** The procession of an hour as a picture that is kept. */
import { figure } from '#shared/locales/units.ts'
import { pageWords } from '../../../frame/page-words.ts'
import { CROWD_STEPS, STEP_FROM } from '../../../design/marks.tsx'
import { localTime } from '../../clock.ts'
import { placeWords, PROCESSION, type ProcessionPlaces } from '../../map/procession-places.tsx'
import { fileName } from '../../parts/download.ts'
import { onPaper } from '../../parts/paper.ts'
import { fontOf, savePicture } from '../../parts/picture.ts'
import { words } from '../../words.ts'
import { longHourName } from './procession-hour.ts'
import { boundsInSight, type Shown } from './procession-bounds.ts'
import { drawProcession } from './procession-picture.ts'

const WIDTH = 1_136
const [LEAST_HIGH, MOST_HIGH] = [560, 1_000]
/** Room of the legend below the map. */
const LEGEND = 44

/** @param text how many points it shows */
export function saveProcession(shown: Shown, hour: string, text: string): void {
  const { west, east, north, south } = boundsInSight(shown)
  const high = (WIDTH * (south - north)) / Math.max(east - west, 1e-9)
  const height = Math.round(Math.min(MOST_HIGH, Math.max(LEAST_HIGH, high)))
  const map = drawProcession(shown, { width: WIDTH, height })
  savePicture(
    {
      title: words.peek().reports.procession,
      lines: [longHourName(hour), text, ...placeLines(shown.places)],
    },
    {
      width: WIDTH,
      height: height + LEGEND,
      draw(context) {
        context.drawImage(map, 0, 0, WIDTH, height)
        context.strokeStyle = onPaper('line')
        context.lineWidth = 1
        context.strokeRect(0, 0, WIDTH, height)
        drawLegend(context, height + LEGEND / 2)
      },
    },
    fileName('procession', localTime(hour), 'png'),
  )
}

/** `Front: near Tongxiao (km 45.3)` */
const placeLines = (places: ProcessionPlaces): string[] =>
  PROCESSION.map((mark) => {
    const said = words.peek()
    const place = places[mark]
    if (place === null) return pageWords.peek().pair(said.now[mark], said.common.unknown)
    const { name, km } = placeWords(place)
    return pageWords.peek().pair(said.now[mark], km === null ? name : pageWords.peek().aside(name, km))
  })

/** What the colours of the cells mean. */
function drawLegend(context: CanvasRenderingContext2D, y: number): void {
  context.font = fontOf(14)
  context.textAlign = 'left'
  context.textBaseline = 'middle'
  let x = 0
  const write = (text: string): void => {
    context.fillStyle = onPaper('soft')
    context.fillText(text, x, y)
    x += context.measureText(text).width + 18
  }
  write(words.peek().now.legend.points)
  for (const [i, step] of CROWD_STEPS.entries()) {
    context.fillStyle = onPaper(`crowd-${step}`)
    context.fillRect(x, y - 7, 14, 14)
    x += 20
    write(i === 0 ? `< ${figure(STEP_FROM[1])}` : `≥ ${figure(STEP_FROM[i]!)}`)
  }
}
