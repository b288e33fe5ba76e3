/** What an operator does about each cause of an incident: one sentence each, here and nowhere else. */
import type { Cause } from './alert-decision.ts'

export interface Bilingual {
  readonly 'zh-Hant': string
  readonly en: string
}

/** Causes of alerts, and parts that operators see although nobody is alerted about them. */
type ToDo = Cause['key'] | 'kv' | 'objects' | 'service'

export const WHAT_TO_DO: Readonly<Record<ToDo, Bilingual>> = {
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
}

/** Splits the text of a cause, which alerts send in both languages at once. */
export function bilingual(text: string): Bilingual {
  const [zh = text, en = zh] = text.split(' · ')
  return { 'zh-Hant': zh, en }
}
