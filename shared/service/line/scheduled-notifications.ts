/** The scheduled notifications: the owner's settings, or the defaults. */
import { eq } from 'drizzle-orm'
import type { Calendar } from '#shared/core/rules/calendar.ts'
import { time } from '#shared/contracts/fields.ts'
import { type Notifications, NotificationSlot } from '#shared/contracts/messages.ts'
import type { Tx } from '#shared/stores/db/db.ts'
import { notificationPlan } from '#shared/stores/schema/tables.ts'

/** Start of a slot's hour on a local day, epoch milliseconds. An hour that clocks skip starts with the next one. */
export function startOfSlot(calendar: Calendar, day: string, { hour }: NotificationSlot): number {
  const [year, month, date] = day.split('-').map(Number) as [number, number, number]
  return calendar.instant(year, month, date, hour, 0, 0)
}

/** Id of the table's single row. */
export const PLAN_ID = 1

export const DEFAULT_SLOTS: readonly NotificationSlot[] = [
  {
    id: 'morning',
    enabled: true,
    hour: 6,
    dates: null,
    audience: 'participants',
    text: {
      'zh-Hant': '早安！出發前記得打卡，路上注意安全。',
      'zh-Hans': '早安！出发前记得打卡，路上注意安全。',
      en: 'Good morning! Remember to check in before you set off, and take care on the way.',
      ja: 'おはようございます。出発前のチェックインをお忘れなく。道中お気をつけて。',
    },
  },
  {
    id: 'noon',
    enabled: true,
    hour: 12,
    dates: null,
    audience: 'participants',
    text: {
      'zh-Hant': '中午了，記得補充水分、休息一下，再繼續往前走。',
      'zh-Hans': '中午了，记得补充水分、休息一下，再继续往前走。',
      en: 'It is noon: drink some water and rest for a while before you walk on.',
      ja: 'お昼です。水分を補給し、ひと休みしてから歩きましょう。',
    },
  },
  {
    id: 'evening',
    enabled: true,
    hour: 20,
    dates: null,
    audience: 'participants',
    text: {
      'zh-Hant': '今天辛苦了！傳「等級」給我，看看您走了多遠。',
      'zh-Hans': '今天辛苦了！发送“等级”给我，看看您走了多远。',
      en: 'Well walked today! Send me “level” to see how far you have come.',
      ja: '今日もお疲れさまでした。「レベル」と送ると、歩いた距離が分かります。',
    },
  },
]

export async function readNotifications(tx: Tx): Promise<Notifications> {
  const [row] = await tx.orm.select().from(notificationPlan).where(eq(notificationPlan.id, PLAN_ID))
  if (row === undefined)
    return { slots: [...DEFAULT_SLOTS], defaults: true, changed_at: null, changed_by: null }
  return {
    slots: row.slots.map((slot) => NotificationSlot.parse(slot)),
    defaults: false,
    changed_at: time(row.changedAt),
    changed_by: row.changedBy,
  }
}
