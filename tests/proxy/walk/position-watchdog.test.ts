/** A phone at rest reports nothing: it is asked for a position before the signal counts as lost. */
import { describe, expect, test } from 'bun:test'
import {
  type After,
  hindered,
  listenForSilence,
  NO_PAUSES,
  openPause,
  received,
  SILENT_MS,
  started,
} from '#proxy/pages/walk/recording/pause-log.ts'

describe('a watch that says nothing', () => {
  /** A phone on a clock that the test moves. It responds after a time, or never has a position. */
  function phone(answersAfterMs: number | null) {
    let log = started(NO_PAUSES, 0)
    let nowMs = 0
    let due: { readonly atMs: number; readonly call: () => void } | null = null
    const asked: number[] = []
    const after: After = (ms, call) => {
      const timer = (due = { atMs: nowMs + ms, call })
      return () => {
        if (due === timer) due = null
      }
    }
    /** The next watch asks for a position. */
    const ask = (): void => {
      asked.push(nowMs)
      silence = listenForSilence(ask, after)
      if (answersAfterMs === null) log = hindered(log, 'no-signal')
      else {
        log = received(log, (nowMs += answersAfterMs))
        silence.heard()
      }
    }
    let silence = listenForSilence(ask, after)
    return {
      asked,
      stop: () => silence.stop(),
      log: () => log,
      position() {
        log = received(log, nowMs)
        silence.heard()
      },
      until(ms: number) {
        while (due !== null && due.atMs <= ms) {
          const { atMs, call } = due
          ;[nowMs, due] = [Math.max(nowMs, atMs), null]
          call()
        }
        nowMs = Math.max(nowMs, ms)
      },
    }
  }

  test('is asked once a minute, and a phone that lies still has no pause, however long', () => {
    const { asked, log, until } = phone(20_000)
    until(3_600_000)
    expect(asked).toHaveLength(45)
    for (const [i, t] of asked.entries()) expect(t - (asked[i - 1] ?? 0)).toBeGreaterThanOrEqual(SILENT_MS)
    expect(log().pauses).toEqual([])
    expect(openPause(log(), 3_600_000)).toBeNull()
  })

  test('is a missing signal when the phone, asked, has no position either', () => {
    const still = phone(null)
    still.until(89_000)
    expect([still.asked, openPause(still.log(), 89_000)]).toEqual([[60_000], null])
    still.until(600_000)
    expect(openPause(still.log(), 600_000)).toEqual({ from: 0, to: 600_000, cause: 'no-signal' })
    still.position()
    expect(still.log().pauses).toEqual([{ from: 0, to: 600_000, cause: 'no-signal' }])
  })

  test('is not asked while positions come, nor after the end', () => {
    const walking = phone(0)
    for (let t = 30_000; t <= 600_000; t += 30_000) {
      walking.until(t)
      walking.position()
    }
    walking.stop()
    walking.until(3_600_000)
    expect(walking.asked).toEqual([])
  })
})
