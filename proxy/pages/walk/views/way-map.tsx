/** A day's way as a picture. The figures beside it say the same in words. */
import { useEffect, useRef } from 'preact/hooks'
import { effect } from '@preact/signals'
import { theme } from '../../frame/theme.ts'
import type { OwnWalk } from '../way/own-way.ts'
import { route } from '../way/own-way.ts'
import { drawWay } from '../way/draw-way.ts'
import { linesOf } from '../way/stations.ts'

export function WayMap({ walked, label }: { readonly walked: OwnWalk; readonly label: string }) {
  const element = useRef<HTMLCanvasElement>(null)
  useEffect(() => {
    const canvas = element.current!
    const draw = () =>
      drawWay(canvas, {
        line: walked.line,
        checkIns: walked.checkins,
        route: linesOf(route.value?.lines ?? []),
      })
    const stop = effect(() => {
      // Colours are the theme's.
      void theme.value
      requestAnimationFrame(draw)
    })
    const size = new ResizeObserver(draw)
    size.observe(canvas)
    return () => {
      stop()
      size.disconnect()
    }
  }, [walked])
  return (
    <canvas ref={element} class="way-map">
      {label}
    </canvas>
  )
}
