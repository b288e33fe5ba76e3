import { effect } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import type { Seen } from '../../map/crowd-camera.ts'
import { isPrinting } from '../../parts/paper.ts'
import type { Shown } from './procession-bounds.ts'
import { drawProcession } from './procession-picture.ts'

/** Room of the map on the report's paper, in CSS pixels at its zoom. */
const SIZE = { width: 544, height: 300 }

interface Props extends Omit<Shown, 'seen'> {
  readonly seen: () => Seen | null
}

/** The map on paper: drawn when the page is printed, in the place of the one on the screen. */
export function PrintedProcession(props: Props) {
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
