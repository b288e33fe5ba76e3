/** Whether a check-in, a flush and a read cost more when there are more pilgrims and more points. */
import { load } from './load.ts'
import { closeAll, cpuSeconds, startDatabase, startPinned, startStore } from './parts.ts'

const PATH = '/api/event/checkin'

interface Cost {
  readonly pilgrims: number
  readonly perSecond: number
  readonly trackingUs: number
  readonly redisUs: number
  readonly bytes: number
}

/** Check-ins of so many pilgrims, each known already. */
async function checkInsOf(pilgrims: number, seconds: number): Promise<Cost> {
  const [database, redis] = await Promise.all([startDatabase(), startStore('everysec')])
  const tracking = await startPinned('tracking', { DATABASE_URL: database.url, REDIS_URL: redis.url })
  try {
    const send = (seed: number, forS: number) =>
      load({ script: 'check-in', url: tracking.url, args: [PATH, pilgrims, seed], seconds: forS })
    for (let sent = 0, seed = 1; sent < pilgrims; seed++) sent += (await send(seed, 5)).requests
    const [trackingBefore, redisBefore] = [cpuSeconds(tracking.pid), cpuSeconds(redis.pid)]
    const { requests, seconds: took } = await send(0, seconds)
    const us = (used: number) => (used / requests) * 1e6
    return {
      pilgrims,
      perSecond: requests / took,
      trackingUs: us(cpuSeconds(tracking.pid) - trackingBefore),
      redisUs: us(cpuSeconds(redis.pid) - redisBefore),
      bytes: 0,
    }
  } finally {
    await closeAll([tracking, redis, database])
  }
}

/** Prints the cost at 10, 100 and 1,000 thousand pilgrims, and from 1 to 20 million points. */
export async function measureGrowth(quick: boolean): Promise<void> {
  for (const pilgrims of quick ? [10_000, 100_000] : [10_000, 100_000, 1_000_000]) {
    const { perSecond, trackingUs, redisUs } = await checkInsOf(pilgrims, quick ? 2 : 8)
    console.log(
      `check-in, ${pilgrims.toLocaleString('en').padStart(9)} pilgrims: ${Math.round(perSecond)}/s, ` +
        `tracking ${trackingUs.toFixed(1)} µs, Redis ${redisUs.toFixed(1)} µs`,
    )
  }
}
