/** 控制台的警報面板。The words of the console's panel of alerts, and what the palette finds by other names. */
import type { ConsoleWords } from '../words.ts'

export const consoleAlerting: Pick<ConsoleWords, 'alerting' | 'paletteAlso'> = {
  alerting: {
    title: '通知負責人的警報',
    toLine: '警報以 LINE 發送給 EVENT_ALERT_USER_ID 指定的人。',
    noLine: '沒有人會收到警報：請設定 LINE_CHANNEL_ACCESS_TOKEN 與 EVENT_ALERT_USER_ID，再重新啟動服務。',
    noRecipient: '沒有人會收到警報：請將 EVENT_ALERT_USER_ID 設為一個 LINE 使用者代號，再重新啟動服務。',
    noneSent: '目前為止沒有發送過警報。',
    last: {
      sending: (time) => `最近一次警報自 ${time} 起發送中：`,
      sent: (time) => `最近一次警報發送於 ${time}：`,
      skipped: (time) => `最近一次警報只留下紀錄（${time}），沒有人收到：`,
    },
    lastFailed: (time) => `LINE 於 ${time} 拒絕了最近一次警報：`,
    noBackup: '沒有備份時，資料庫磁碟損壞就會失去一切。請立即備份：',
    oldBackup: '請重新備份：',
  },
  paletteAlso: {
    alerting: '警報 警告 通知 負責人 事故 備份 alert backup',
    alerts: '警報 事故 問題 健康 服務 alert',
    'dead-letters': '無法寫入 被拒絕 dead letters',
    ledger: '備份 遺失 backup',
    schedule: '提醒 排程 通知 reminder',
    compose: '發送 推播 send',
    'rich-menu': '選單 部署 menu',
  },
}
