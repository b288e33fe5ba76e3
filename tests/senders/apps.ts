/**
 * The supported apps as they behave on the network: when they send, how they react to responses, and what
 * they drop. Each names its source.
 */
import type { TrackerApp } from '#shared/contracts/trackers.ts'
import {
  type Fix,
  gpsLogger,
  osmAnd,
  overland,
  ownTracksAndroid,
  ownTracksIos,
  traccar10,
} from '#tests/tracking/tracker-bodies.ts'
import { RETRY_MS } from './gpslogger.ts'
import { type OpenPhone, queuePhone } from './phone.ts'
import { MINUTE_MS, SECOND_MS } from './simulation.ts'

const doubling = (firstMs: number, mostMs: number) => (failures: number) =>
  Math.min(mostMs, firstMs * 2 ** Math.min(failures, 30))

/** traccar/traccar-client 10.1.0 (2c5cd8f), SDK 1.0.10: TrackerEngine.kt `syncLoop`, HttpUploader.kt, DatabaseQueue.kt. */
const traccarClient: OpenPhone = (simulation, key) =>
  queuePhone(simulation, key, {
    form: traccar10,
    backoffMs: doubling(5 * SECOND_MS, 5 * MINUTE_MS),
    deletesOn: () => false,
  })

/** owntracks/ios (285f915, 2026-08-19), Connection.m: a 4xx deletes the head and shows an alert. */
const ownTracksOnIos: OpenPhone = (simulation, key) =>
  queuePhone(simulation, key, {
    form: ownTracksIos,
    backoffMs: () => SECOND_MS,
    deletesOn: (status) => status >= 400 && status < 500,
  })

/** owntracks/android 2.6.0 (25c27be), MessageProcessor.kt: 100,000 tries for a location, in a queue of 100,000. */
const ownTracksOnAndroid: OpenPhone = (simulation, key) =>
  queuePhone(simulation, key, {
    form: ownTracksAndroid,
    backoffMs: doubling(SECOND_MS, 2 * MINUTE_MS),
    deletesOn: () => false,
  })

/**
 * osmandapp/OsmAnd (LiveSender.java at 8156a5a, LiveMonitoringHelper.java at f610eec): the queue is in
 * memory, and each location starts the sender. Times come from the phone. Locations older than the time
 * buffer are dropped.
 */
const osmAndApp: OpenPhone = (simulation, key) =>
  queuePhone(simulation, key, {
    form: osmAnd,
    backoffMs: () => 0,
    deletesOn: () => false,
    forgetsOnReboot: true,
    sendsOnFix: true,
    // As recommended in the set-up; the default is 15 minutes.
    longestMs: 12 * 60 * MINUTE_MS,
  })

const BATCH = 200
const SENDING_INTERVAL_MS = 5 * MINUTE_MS

/**
 * aaronpk/Overland-iOS (5f2a5be, 2024-10-24), GLManager.m `sendQueueNow` and `sendQueueIfTimeElapsed`: with each
 * location, up to 200 points each five minutes, or at once while more than a batch waits.
 */
const overlandApp: OpenPhone = ({ time, send }, key) => {
  let queue: Fix[] = []
  const shown: number[] = []
  let sentMs = -Infinity
  let isSending = false
  let isFlushing = false
  const phone = { online: true }
  const sendNow = async (): Promise<void> => {
    const batch = queue.slice(0, BATCH)
    isSending = true
    sentMs = time.nowMs
    try {
      const response = phone.online ? await send(key, overland(...batch)) : null
      const isTaken = response !== null && response.ok && (await response.text()).includes('"result":"ok"')
      if (isTaken) queue = queue.filter((fix) => !batch.includes(fix))
      else if (response !== null) shown.push(response.status)
      isFlushing = isTaken && queue.length >= BATCH
    } finally {
      isSending = false
    }
  }
  return Object.assign(phone, {
    record(fix: Fix) {
      queue.push(fix)
      time.after(0, async () => {
        if (!isSending && (isFlushing || time.nowMs - sentMs > SENDING_INTERVAL_MS)) await sendNow()
      })
    },
    reboot() {
      isFlushing = false
    },
    kept: () => queue,
    dropped: [],
    shown,
  })
}

/** mendhak/gpslogger v136 (32994bf): a job per point (`gpslogger.ts`). Jobs survive a reboot. */
const gpsLoggerApp: OpenPhone = ({ time, send }, key) => {
  const waiting = new Set<Fix>()
  const dropped: Fix[] = []
  const shown: number[] = []
  let isOnline = true
  const attempt = async (fix: Fix, tries: number): Promise<void> => {
    if (!isOnline || !waiting.has(fix)) return
    const { ok, status } = await send(key, gpsLogger(fix))
    if (ok) {
      waiting.delete(fix)
      return
    }
    shown.push(status)
    const delayMs = RETRY_MS[tries]
    if (delayMs === undefined) {
      waiting.delete(fix)
      dropped.push(fix)
    } else time.after(delayMs, () => attempt(fix, tries + 1))
  }
  return {
    record(fix) {
      waiting.add(fix)
      time.after(SECOND_MS, () => attempt(fix, 0))
    },
    get online() {
      return isOnline
    },
    set online(online) {
      isOnline = online
      if (online) for (const fix of waiting) time.after(SECOND_MS, () => attempt(fix, 0))
    },
    reboot() {
      // WorkManager keeps the jobs and their constraint.
    },
    kept: () => [...waiting],
    dropped,
    shown,
  }
}

export const APPS: Readonly<Record<string, { readonly app: TrackerApp; readonly open: OpenPhone }>> = {
  'Traccar Client': { app: 'traccar', open: traccarClient },
  'OwnTracks on iOS': { app: 'owntracks', open: ownTracksOnIos },
  'OwnTracks on Android': { app: 'owntracks', open: ownTracksOnAndroid },
  Overland: { app: 'overland', open: overlandApp },
  OsmAnd: { app: 'osmand', open: osmAndApp },
  GPSLogger: { app: 'gpslogger', open: gpsLoggerApp },
}
