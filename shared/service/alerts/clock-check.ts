/** The check of the clocks: of each process, against the kv's; and of the phones, by the points that lie in the future. */
import { ServiceName } from '#shared/contracts/endpoint.ts'
import { readLedger } from '#shared/points/ledger/ledger.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import { readClocks } from '#shared/service/heartbeat.ts'
import { withCheckTimeout } from './check-timeout.ts'
import type { Cause } from './incident.ts'
import type { Bilingual } from './what-to-do.ts'

/** A clock that differs by more is wrong. */
export const CLOCK_MS = 5_000
/** This share of all received points, and at least so many, lie in the future only when clocks are wrong. */
export const EARLY_SHARE = 0.05
const EARLY_POINTS = 100
/** Points are compared with those of one to two spans ago. */
const SPAN_MS = 10 * 60_000

type Stores = Pick<ServiceContext, 'kv' | 'db'>

/** Says which clocks are wrong. Without the kv or the database it says what can be known. */
export async function checkClocks(stores: Stores): Promise<Cause | null> {
  const [processes, phones] = await Promise.all(
    [wrongProcesses(stores), wrongPhones(stores)].map((check) => withCheckTimeout(check).catch(() => [])),
  )
  const wrong = [...processes!, ...phones!]
  if (wrong.length === 0) return null
  const text = `${wrong.map((one) => one['zh-Hant']).join('；')} · ${wrong.map(({ en }) => en).join('; ')}`
  return { key: 'clock', failure: false, text }
}

async function wrongProcesses({ kv }: Stores): Promise<Bilingual[]> {
  const clocks = await readClocks(kv, ServiceName.options)
  const wrong = clocks.filter(({ aheadMs }) => Math.abs(aheadMs) > CLOCK_MS)
  return wrong.map(({ process, services, aheadMs }) => {
    const [seconds, isAhead] = [Math.round(Math.abs(aheadMs) / 1_000), aheadMs > 0]
    const name = `${services.join(', ')} (${process})`
    return {
      'zh-Hant': `${name} 的時鐘比 Redis ${isAhead ? '快' : '慢'} ${seconds} 秒`,
      en: `The clock of ${name} is ${seconds} s ${isAhead ? 'ahead of' : 'behind'} that of Redis`,
    }
  })
}

async function wrongPhones({ kv, db }: Stores): Promise<Bilingual[]> {
  const [{ received, rejected }, nowMs] = await Promise.all([readLedger(db, kv), kv.clock()])
  const early = rejected['in-the-future'] ?? 0
  const span = Math.floor(nowMs / SPAN_MS)
  // All watchers compare with the same figures.
  const began = await kv.cacheOnce(keyOf(span), JSON.stringify([received, early]), 3 * SPAN_MS)
  const [receivedBefore, earlyBefore] = JSON.parse((await kv.cached(keyOf(span - 1))) ?? began) as [
    number,
    number,
  ]
  const points = early - earlyBefore
  const share = points / (received - receivedBefore)
  if (points < EARLY_POINTS || share < EARLY_SHARE) return []
  const percent = Math.round(share * 100)
  return [
    {
      'zh-Hant': `手機：${percent}% 的定位時間在未來`,
      en: `Phones: the time of ${percent} % of all points lies in the future`,
    },
  ]
}

const keyOf = (span: number): string => `early-points:${span}`
