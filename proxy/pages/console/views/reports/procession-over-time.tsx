/** The procession hour by hour: a slider, and a button that plays it. Each hour is read once. */
import { useSignal } from '@preact/signals'
import type { Answer, MapCellEntry } from '#shared/client/index.ts'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import { Button } from '../../../design/button.tsx'
import { date, number } from '../../clock.ts'
import { entriesOf } from '../../map/cells.ts'
import { CrowdMap } from '../../map/crowd-map.tsx'
import { saveCsv, savePng } from '../../parts/download.ts'
import { absenceOf, Panel } from '../../parts/panel.tsx'
import { type Resource, useResource } from '../../resource.ts'
import { client } from '../../session.ts'
import { fill, words } from '../../words.ts'
import type { Timeline } from './series.ts'

const E5 = 1e5
const HOUR_MS = 3_600_000
/** Cells of about 700 m: the whole way of a pilgrimage fits into one answer. */
const ZOOM = 11
/** A token has 30 calls a minute, so a picture that must be read takes longer than one that was. */
const READ_MS = 2_500
const SHOWN_MS = 700

type Cells = readonly MapCellEntry[]
type Frames = ReadonlyMap<string, Cells>
const NOTHING: Cells = []

export function ProcessionOverTime({ timeline }: { readonly timeline: Resource<Timeline> }) {
  const hours = timeline.value.value?.hours
  const walked = useMemo(
    () => (hours ?? []).filter(({ points }) => points > 0).map(({ hour }) => hour),
    [hours],
  )
  if (walked.length === 0) return null
  return <Player hours={walked} />
}

async function readHour(hour: string, signal: AbortSignal): Promise<Answer<Cells>> {
  const until = new Date(Date.parse(hour) + HOUR_MS).toISOString()
  const answer = await client.readClusters({ zoom: ZOOM, since: hour, until }, { signal })
  return answer.ok ? { ...answer, data: entriesOf(answer.data, 'count') } : answer
}

/** The cells of the hours that were chosen, each read once, and the reading of the chosen one. */
function useFrames(hour: string): { readonly frames: Frames; readonly reading: Resource<Cells> } {
  const { current: frames } = useRef(new Map<string, Cells>())
  const known = frames.get(hour)
  const reading = useResource(
    async (signal) =>
      known === undefined
        ? readHour(hour, signal)
        : { ok: true as const, status: 200, data: known, headers: new Headers() },
    0,
    `procession ${hour}`,
  )
  if (reading.value.value !== null) frames.set(hour, reading.value.value)
  return { frames, reading }
}

/** The chosen hour, and the button that goes from hour to hour. */
function usePlayer(hours: readonly string[]) {
  const at = useSignal(hours.length - 1)
  const playing = useSignal(false)
  const index = Math.min(at.value, hours.length - 1)
  const hour = hours[index]!
  const { frames, reading } = useFrames(hour)
  const cells = frames.get(hour)
  const next = (index + 1) % hours.length
  const isPlaying = playing.value
  const waitMs = frames.has(hours[next]!) ? SHOWN_MS : READ_MS
  useEffect(() => {
    if (!isPlaying || cells === undefined) return undefined
    const timer = setTimeout(() => (at.value = next), waitMs)
    return () => clearTimeout(timer)
  }, [isPlaying, cells, next, waitMs, at])
  return { at, playing, index, hour, cells, reading }
}

function Player({ hours }: { readonly hours: readonly string[] }) {
  const said = words.value.reports
  const { at, playing, index, hour, cells, reading } = usePlayer(hours)
  const points = (cells ?? NOTHING).reduce((sum, [, , , count]) => sum + count, 0)
  const text = fill(said.processionFigure, { points: number(points), cells: number(cells?.length ?? 0) })
  return (
    <Panel
      title={said.procession}
      kind="procession-over-time"
      actions={<Downloads hour={hour} cells={cells} />}
    >
      <div class="row">
        <Button aria-pressed={playing.value} onClick={() => (playing.value = !playing.value)}>
          {playing.value ? said.stop : said.play}
        </Button>
        <input
          type="range"
          min={0}
          max={hours.length - 1}
          value={index}
          aria-label={said.hour}
          aria-valuetext={date(hour)}
          onInput={(event) => (at.value = Number(event.currentTarget.value))}
        />
        <output>
          <strong>{date(hour)}</strong>{' '}
          <span class="quiet">{cells === undefined ? absenceOf(reading) : text}</span>
        </output>
      </div>
      <CrowdMap cells={cells ?? NOTHING} keep label={`${said.procession}: ${date(hour)}. ${text}`} />
    </Panel>
  )
}

/** The cells of one hour: the middle of each in degrees, and its points. */
const saveCells = (hour: string, cells: Cells): void =>
  saveCsv(
    [
      ['hour', 'lat', 'lng', 'zoom', 'points'],
      ...cells.map(([lat, lng, zoom, points]) => [hour, lat / E5, lng / E5, zoom, points]),
    ],
    'procession.csv',
  )

interface DownloadsProps {
  readonly hour: string
  readonly cells: Cells | undefined
}

const Downloads = ({ hour, cells }: DownloadsProps) => (
  <>
    <Button disabled={cells === undefined} onClick={() => saveCells(hour, cells ?? NOTHING)}>
      {words.value.common.csv}
    </Button>
    <Button onClick={saveMap}>{words.value.common.png}</Button>
  </>
)

function saveMap(): void {
  const canvases = document.querySelectorAll<HTMLCanvasElement>('.procession-over-time canvas')
  savePng([...canvases], 'procession.png')
}
