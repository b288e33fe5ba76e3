/** What alerts the owner: each condition in words, with the limits of the checks themselves. */
import type { Alerting } from '#shared/contracts/supervision.ts'
import { NOTICE_DAYS } from './certificates.ts'
import { STALE_MS, CLOCK_MS, EARLY_SHARE, FREE_BYTES } from './health-checks.ts'
import { GAPS_MS } from './alert-decision.ts'
import { THRESHOLDS } from './notices.ts'
import { LOOK_EVERY_MS } from './watch.ts'
import { WHAT_TO_DO } from './what-to-do.ts'

const MINUTE_MS = 60_000
const staleMinutes = STALE_MS / MINUTE_MS
const freeMb = FREE_BYTES / 1_048_576
const percents = THRESHOLDS.toReversed()

const CONDITIONS: Alerting['conditions'] = [
  {
    key: 'database',
    when: { 'zh-Hant': '資料庫沒有回應', en: 'The database does not answer' },
    what_to_do: WHAT_TO_DO.database,
  },
  {
    key: 'flush',
    when: {
      'zh-Hant': `${staleMinutes} 分鐘沒有把定位寫入資料庫`,
      en: `Points were not written to the database for ${staleMinutes} minutes`,
    },
    what_to_do: WHAT_TO_DO.flush,
  },
  {
    key: 'disk',
    when: {
      'zh-Hant': `磁碟沒有回應，或剩餘空間少於 ${freeMb} MB`,
      en: `The disk does not answer, or has less than ${freeMb} MB left`,
    },
    what_to_do: WHAT_TO_DO.disk,
  },
  {
    key: 'dead-letters',
    when: { 'zh-Hant': '資料庫拒絕了定位', en: 'The database refused a point' },
    what_to_do: WHAT_TO_DO['dead-letters'],
  },
  {
    key: 'lost',
    when: { 'zh-Hant': '有定位遺失', en: 'A point is lost' },
    what_to_do: WHAT_TO_DO.lost,
  },
  {
    key: 'clock',
    when: {
      'zh-Hant': `服務的時鐘與 Redis 相差超過 ${CLOCK_MS / 1_000} 秒，或 ${EARLY_SHARE * 100}% 的定位時間在未來`,
      en: `The clock of a service differs by more than ${CLOCK_MS / 1_000} s from that of Redis, or ${EARLY_SHARE * 100} % of all points lie in the future`,
    },
    what_to_do: WHAT_TO_DO.clock,
  },
  {
    key: 'slots',
    when: { 'zh-Hant': 'Redis Cluster 的 slot 正在搬移', en: 'Slots of the Redis Cluster are moving' },
    what_to_do: WHAT_TO_DO.slots,
  },
  {
    key: 'certificate',
    when: {
      'zh-Hant': `憑證在到期前 ${NOTICE_DAYS} 天仍未更新`,
      en: `A certificate is not renewed ${NOTICE_DAYS} days before it ends`,
    },
    what_to_do: {
      'zh-Hant': '查看 Caddy 的日誌為何沒有更新憑證，然後更新它。',
      en: 'Look at the log of Caddy why the certificate is not renewed, and renew it.',
    },
  },
  {
    key: 'quota',
    when: {
      'zh-Hant': `本月 LINE 訊息已使用 ${percents.join('%、')}%`,
      en: `${percents.join(' % or ')} % of this month’s LINE messages are used`,
    },
    what_to_do: {
      'zh-Hant': '在 LINE 升級方案，或減少發送。警報使用同一額度。',
      en: 'Raise the plan at LINE, or send less. Alerts use the same quota.',
    },
  },
]

/** @param userId the LINE user who is alerted; empty: none. It is not told */
export const alertingOf = (hasLine: boolean, userId: string): Alerting => ({
  channel: hasLine && userId !== '' ? 'line' : null,
  line: hasLine,
  recipient: userId !== '',
  within_s: LOOK_EVERY_MS / 1_000,
  repeats_min: GAPS_MS.map((ms) => ms / MINUTE_MS),
  conditions: CONDITIONS,
})
