/** The text of each condition that alerts the owner, with the limits of the checks themselves. */
import type { Alerting } from '#shared/contracts/supervision.ts'
import { MEMORY_CEILING } from '#shared/points/admission.ts'
import { LATE_MS } from '#shared/service/continuous-archive.ts'
import { NOTICE_DAYS } from './certificates.ts'
import { type Bilingual, STALE_MS, CLOCK_MS, EARLY_SHARE, FREE_BYTES } from './health-checks.ts'
import { SILENT_MS } from '#shared/service/heartbeat.ts'
import { GAPS_MS, LOOK_EVERY_MS } from './when-to-alert.ts'
import { THRESHOLDS } from './quota-and-certificate-notices.ts'

const MINUTE_MS = 60_000
const staleMinutes = STALE_MS / MINUTE_MS
const freeMb = FREE_BYTES / 1_048_576
const percents = THRESHOLDS.toReversed()

const WHEN: Readonly<Record<Alerting['conditions'][number]['key'], Bilingual>> = {
  database: { 'zh-Hant': '資料庫沒有回應', en: 'The database does not answer' },
  flush: {
    'zh-Hant': `${staleMinutes} 分鐘沒有把定位寫入資料庫`,
    en: `Points were not written to the database for ${staleMinutes} minutes`,
  },
  disk: {
    'zh-Hant': `磁碟沒有回應，或剩餘空間少於 ${freeMb} MB`,
    en: `The disk does not answer, or has less than ${freeMb} MB left`,
  },
  'dead-letters': { 'zh-Hant': '資料庫拒絕了定位', en: 'The database refused a point' },
  lost: { 'zh-Hant': '有定位遺失', en: 'A point is lost' },
  clock: {
    'zh-Hant': `服務的時鐘與 Redis 相差超過 ${CLOCK_MS / 1_000} 秒，或 ${EARLY_SHARE * 100}% 的定位時間在未來`,
    en: `The clock of a service differs by more than ${CLOCK_MS / 1_000} s from that of Redis, or ${EARLY_SHARE * 100} % of all points lie in the future`,
  },
  slots: { 'zh-Hant': 'Redis Cluster 的 slot 正在搬移', en: 'Slots of the Redis Cluster are moving' },
  memory: {
    'zh-Hant': `Redis 的記憶體已用 ${MEMORY_CEILING * 100}%`,
    en: `Redis uses ${MEMORY_CEILING * 100} % of its memory`,
  },
  backup: {
    'zh-Hant': `超過兩個間隔沒有備份、最新的備份無法還原，或持續備份落後 ${LATE_MS / MINUTE_MS} 分鐘`,
    en: `No backup was taken for two intervals, the newest one cannot be restored, or the continuous archive is ${LATE_MS / MINUTE_MS} minutes behind`,
  },
  service: {
    'zh-Hant': `某個服務的所有程序都超過 ${SILENT_MS / 1_000} 秒沒有消息`,
    en: `No process of a service has reported for ${SILENT_MS / 1_000} s`,
  },
  certificate: {
    'zh-Hant': `憑證在到期前 ${NOTICE_DAYS} 天仍未更新`,
    en: `A certificate is not renewed ${NOTICE_DAYS} days before it ends`,
  },
  quota: {
    'zh-Hant': `本月 LINE 訊息已使用 ${percents.join('%、')}%`,
    en: `${percents.join(' % or ')} % of this month’s LINE messages are used`,
  },
}

/**
 * What an operator does about each condition, and about parts that cause no alert: one sentence each, defined only
 * here.
 */
export const WHAT_TO_DO: Readonly<Record<keyof typeof WHEN | 'kv' | 'objects', Bilingual>> = {
  kv: {
    'zh-Hant': '檢查 Redis 是否在執行、記憶體是否已滿；打卡暫存在日誌，軌跡由手機保留。',
    en: 'Check that Redis runs and has memory left; check-ins go to the journals meanwhile, and phones keep their tracks.',
  },
  objects: {
    'zh-Hant': '檢查物件儲存是否可以連線；卡片與截圖會稍後補上。',
    en: 'Check that the object store can be reached; cards and screenshots are made later.',
  },
  service: {
    'zh-Hant': '查看這個服務的日誌並重新啟動；其他服務照常運作。',
    en: 'Read the log of this service and restart it; the other services go on without it.',
  },
  database: {
    'zh-Hant': '檢查 Postgres 是否在執行、磁碟是否已滿；打卡仍會被接收並緩存三天。',
    en: 'Check that Postgres runs and that its disk is not full; check-ins are still accepted and kept for three days.',
  },
  flush: {
    'zh-Hant': '檢查 scheduler 服務是否在執行，然後按「立即寫入」；等待中的定位不會遺失。',
    en: 'Check that the scheduler service runs, then press “Flush now”; points that wait are not lost.',
  },
  disk: {
    'zh-Hant': '檢查伺服器的磁碟是否正常；快滿時刪除舊備份或擴大磁碟。磁碟滿了之後打卡會被拒絕。',
    en: 'Check the server’s disk: if it is nearly full, delete old backups or enlarge it; with a full disk check-ins are refused.',
  },
  'dead-letters': {
    'zh-Hant':
      '在「系統」頁的「無法寫入的定位」看每一筆被拒絕的原因，先排除原因，再按「重送」；排除之前不要刪除，刪除就沒有了。',
    en: 'Read the reasons under “System”, “Dead letters”, correct the cause, then press “Requeue”; what is dropped is gone.',
  },
  lost: {
    'zh-Hant': '檢查 Redis 是否曾重新啟動或遺失磁碟，並保留日誌；手機以為已送達，不會自動重送。',
    en: 'Check whether Redis restarted or lost its disk, and keep the logs; phones do not send these points again, as they were told that they had arrived.',
  },
  clock: {
    'zh-Hant':
      '在該主機上啟用時間同步（NTP）；若所有服務都差一樣多，錯的是 Redis 的主機。手機的時鐘請設為自動。時間在未來的定位會由手機保留，稍後再送。',
    en: 'Turn time synchronisation (NTP) on at that machine; if all services differ alike, it is that of Redis. Phones: set the clock to automatic. They keep points of the future and send them later.',
  },
  slots: {
    'zh-Hant':
      '立即暫停活動並停止搬移；在兩台伺服器上執行 CLUSTER SETSLOT <slot> STABLE，按「立即寫入」，停止所有服務之後再搬移。',
    en: 'Pause the event at once and stop the move; run CLUSTER SETSLOT <slot> STABLE on both servers, press “Flush now”, and move slots only after all services are stopped.',
  },
  memory: {
    'zh-Hant': '按「立即寫入」；若仍然是滿的，調高 REDIS_MAXMEMORY。定位由手機保留。',
    en: 'Press “Flush now”; if it stays full, raise REDIS_MAXMEMORY. Phones keep their points.',
  },
  backup: {
    'zh-Hant': '在 scheduler 的日誌查看原因（資料夾不可寫或磁碟已滿？），排除之後會自動重試；可先手動備份。',
    en: 'Read the reason in the log of the scheduler: is the folder of the backups full, or not writable? It is tried again within the hour; take one by hand meanwhile.',
  },
  certificate: {
    'zh-Hant': '查看 Caddy 的日誌為何沒有更新憑證，然後更新它。',
    en: 'Look at the log of Caddy why the certificate is not renewed, and renew it.',
  },
  quota: {
    'zh-Hant': '在 LINE 升級方案，或減少發送。警報使用同一額度。',
    en: 'Raise the plan at LINE, or send less. Alerts use the same quota.',
  },
}

/** Splits the text of a cause, which alerts send in both languages at once. */
export function bilingual(text: string): Bilingual {
  const [zh = text, en = zh] = text.split(' · ')
  return { 'zh-Hant': zh, en }
}

/**
 * What the console shows about alerts: whether they reach anyone, and what causes them.
 * @param userId the LINE user who is alerted, not included in the answer; empty: none
 */
export const alertingOf = (hasLine: boolean, userId: string): Omit<Alerting, 'sos'> => ({
  channel: hasLine && userId !== '' ? 'line' : null,
  line: hasLine,
  recipient: userId !== '',
  within_s: LOOK_EVERY_MS / 1_000,
  repeats_min: GAPS_MS.map((ms) => ms / MINUTE_MS),
  conditions: (Object.keys(WHEN) as (keyof typeof WHEN)[]).map((key) => ({
    key,
    when: WHEN[key],
    what_to_do: WHAT_TO_DO[key],
  })),
})
