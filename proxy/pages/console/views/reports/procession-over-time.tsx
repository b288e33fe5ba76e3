/** The procession hour by hour: a slider and a play button. Each hour is read once. */
import { Choice } from '../../parts/fields.tsx'
import { effect, type Signal, useSignal } from '@preact/signals'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import type { MapCellEntry } from '#shared/client/index.ts'
import { Button } from '../../../design/button.tsx'
import { dayName, dayOf, minute } from '../../clock.ts'
import { CrowdLegend } from '../../map/over-map.tsx'
import type { Seen } from '../../map/cells.ts'
import { CrowdMap } from '../../map/crowd-map.tsx'
import { type ProcessionPlaces, ProcessionRows } from '../../map/place-words.tsx'
import { absenceOf, Panel, useStale } from '../../parts/panel.tsx'
import { answered, useResource } from '../../resource.ts'
import { words } from '../../words.ts'
import { type Hour, hourName, readHour, saveHour } from './procession-hour.ts'
import { useExports } from './exports.tsx'
import { drawProcession, type Shown } from './procession-picture.ts'
import type { ReportProps } from './panels.ts'
import type { Timeline } from './time-chart.tsx'
import { isPrinting } from '../../parts/picture.ts'
import { pageWords } from '../../../frame/language.ts'

interface HourChoiceProps {
  readonly hours: readonly string[]
  readonly index: number
  readonly onChoose: (index: number) => void
}

/** A day and one of its hours: the slider alone would have hundreds of steps. */
function HourChoice({ hours, index, onChoose }: HourChoiceProps) {
  const messages = words.value.reports
  const hour = hours[index]!
  const days = Map.groupBy(hours, dayOf)
  const sameDay = days.get(dayOf(hour)) ?? []
  /** The same time on another day, or the last one before it. */
  const chooseDay = (day: string) => {
    const ofDay = days.get(day)!
    onChoose(hours.indexOf(ofDay.findLast((other) => minute(other) <= minute(hour)) ?? ofDay[0]!))
  }
  return (
    <>
      <Choice
        bare
        label={messages.day}
        value={dayOf(hour)}
        options={[...days.keys()].map((day) => [day, dayName(day)])}
        onChoose={chooseDay}
      />
      <Choice
        bare
        label={messages.hour}
        value={hour}
        options={sameDay.map((other) => [other, minute(other)])}
        onChoose={(other) => onChoose(hours.indexOf(other))}
      />
    </>
  )
}

/** Size of the map in the printed report, in CSS pixels at its zoom. */
const SIZE = { width: 544, height: 300 }

interface Props extends Omit<Shown, 'seen'> {
  readonly seen: () => Seen | null
}

function PrintedProcession(props: Props) {
  const canvas = useRef<HTMLCanvasElement>(null)
  const latest = useRef(props)
  latest.current = props
  useEffect(
    () =>
      effect(() => {
        if (!isPrinting.value) return
        const { cells, places, seen } = latest.current
        const drawn = drawProcession({ cells, places, seen: seen(), near: true }, SIZE)
        const shown = canvas.current!
        shown.width = drawn.width
        shown.height = drawn.height
        shown.getContext('2d')!.drawImage(drawn, 0, 0)
      }),
    [],
  )
  return <canvas ref={canvas} class="printed-map" aria-hidden="true" />
}

/** A token has 30 calls a minute, so playing is slower for hours that must be read. */
const READ_MS = 2_500
const SHOWN_MS = 700
const NO_CELLS: readonly MapCellEntry[] = []

/** An hour of the timeline. Its number of points changes until the hour is over, and when points arrive late. */
type WalkedHour = Pick<Timeline['hours'][number], 'hour' | 'points'>

export function ProcessionOverTime({ timeline }: ReportProps) {
  const hours = timeline.value.value?.hours
  const walked = useMemo(() => (hours ?? []).filter(({ points }) => points > 0), [hours])
  if (walked.length === 0) return null
  return <Player hours={walked} timeline={timeline} />
}

function useHours({ hour, points }: WalkedHour) {
  const { current: known } = useRef(new Map<string, { readonly points: number; readonly data: Hour }>())
  const reading = useResource(
    async (asked: WalkedHour, { signal }) => {
      const last = known.get(asked.hour)
      if (last?.points === asked.points) return answered(last.data)
      const answer = await readHour(asked.hour, signal)
      if (answer.ok) known.set(asked.hour, { points: asked.points, data: answer.data })
      return answer
    },
    0,
    'procession',
    { hour, points },
  )
  return { known, shown: reading.value.value ?? known.get(hour)?.data, reading }
}

function usePlayer(hours: readonly WalkedHour[]) {
  /** The chosen hour; null: the last one. */
  const chosen = useSignal<string | null>(null)
  const playing = useSignal(false)
  const found = hours.findLastIndex(({ hour }) => hour === chosen.value)
  const index = found < 0 ? hours.length - 1 : found
  const { known, shown, reading } = useHours(hours[index]!)
  const next = hours[(index + 1) % hours.length]!.hour
  const isPlaying = playing.value
  const waitMs = known.has(next) ? SHOWN_MS : READ_MS
  useEffect(() => {
    if (!isPlaying || shown === undefined) return undefined
    const timer = setTimeout(() => (chosen.value = next), waitMs)
    return () => clearTimeout(timer)
  }, [isPlaying, shown, next, waitMs, chosen])
  return { chosen, playing, index, shown, reading }
}

interface PlayerProps extends Pick<ReportProps, 'timeline'> {
  readonly hours: readonly WalkedHour[]
}

function Player({ hours: walked, timeline }: PlayerProps) {
  const messages = words.value.reports
  const title = messages.panels['procession-over-time']
  const { chosen, playing, index, shown, reading } = usePlayer(walked)
  const hours = walked.map(({ hour }) => hour)
  const hour = hours[index]!
  const cells = shown?.cells ?? NO_CELLS
  const points = cells.reduce((sum, [, , , count]) => sum + count, 0)
  const text = [words.value.people.points(points), messages.places(cells.length)].join(
    words.value.common.comma,
  )
  const marks = useMarks(shown)
  const seen = useRef<Seen | null>(null)
  // For an hour with few pilgrims the service returns no marks, and paper would show one person’s position.
  const isTold = marks.front !== null
  useExports('procession-over-time', shown === undefined ? null : () => saveHour(hour, shown))
  return (
    <Panel title={title} kind="procession-over-time" stale={useStale(timeline)} at={timeline.at.value}>
      <Controls
        hours={hours}
        index={index}
        playing={playing}
        onChoose={(to) => (chosen.value = hours[to]!)}
      />
      <InWords hour={hour} shown={shown} text={shown === undefined ? absenceOf(reading) : text} />
      <CrowdMap
        cells={cells}
        marks={marks}
        walkedKm={marks.middle?.route_km ?? null}
        keep
        onSeen={(found) => (seen.current = found)}
        label={`${pageWords.value.pair(title, hourName(hour))}. ${text}`}
      />
      {isTold ? <PrintedProcession cells={cells} places={marks} seen={() => seen.current} /> : null}
    </Panel>
  )
}

interface ControlsProps extends HourChoiceProps {
  readonly playing: Signal<boolean>
}

function Controls({ hours, index, playing, onChoose }: ControlsProps) {
  const messages = words.value.reports
  return (
    <div class="row player">
      <Button onClick={() => (playing.value = !playing.value)}>
        {playing.value ? messages.stop : messages.play}
      </Button>
      <HourChoice hours={hours} index={index} onChoose={onChoose} />
      <input
        type="range"
        min={0}
        max={hours.length - 1}
        value={index}
        aria-label={messages.hour}
        aria-valuetext={hourName(hours[index]!)}
        onInput={(event) => onChoose(Number(event.currentTarget.value))}
      />
    </div>
  )
}

const NOWHERE: ProcessionPlaces = { front: null, middle: null, tail: null }

/** The map keeps its marks while another hour is read, so that they glide to the next. */
function useMarks(shown: Hour | undefined): ProcessionPlaces {
  const last = useRef(NOWHERE)
  return useMemo(() => {
    if (shown !== undefined) {
      const { front, middle, tail } = shown
      last.current = { front, middle, tail }
    }
    return last.current
  }, [shown])
}

interface InWordsProps {
  readonly hour: string
  readonly shown: Hour | undefined
  readonly text: string
}

const InWords = ({ hour, shown, text }: InWordsProps) => (
  <div class="in-words">
    <output>
      <p>
        <strong>{hourName(hour)}</strong> <span class="quiet">{text}</span>
      </p>
      <ProcessionRows
        places={shown ?? null}
        absent={shown === undefined ? '…' : words.value.common.unknown}
      />
    </output>
    {shown?.front === null ? <p class="small quiet">{words.value.reports.fewPilgrims}</p> : null}
    <CrowdLegend of="points" />
  </div>
)
