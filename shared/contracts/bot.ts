/** What LINE delivers, and the menu that pilgrims steer the bot with. */
import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { Time } from './fields.ts'

/** The languages the bot speaks; the first one to people whose language nobody knows. */
export const Language = z.enum(['zh-Hant', 'zh-Hans', 'en', 'ja'])
export type Language = z.infer<typeof Language>

/** What a pilgrim can ask for, in words or by a button. */
export const BotAction = z.enum(['checkin', 'help', 'level', 'carbon', 'card', 'share', 'survey', 'about'])
export type BotAction = z.infer<typeof BotAction>

const Source = z.looseObject({
  type: z.string(),
  userId: z.string().optional(),
})

const Mentionee = z.looseObject({
  index: z.int(),
  length: z.int(),
  isSelf: z.boolean().optional(),
})

/** The end of the year 9999: the database reads no year of five digits. */
const LAST_MS = 253_402_300_799_999

/** An event as LINE sends it, as far as the bot looks at it. What else is in it stays. */
export const LineEvent = z.looseObject({
  type: z.string(),
  webhookEventId: z.string().min(1).max(100),
  timestamp: z.int().min(0).max(LAST_MS).describe('Epoch milliseconds'),
  mode: z.string().optional(),
  source: Source.optional(),
  replyToken: z.string().optional(),
  message: z
    .looseObject({
      type: z.string(),
      text: z.string().optional(),
      mention: z.looseObject({ mentionees: z.array(Mentionee) }).optional(),
    })
    .optional(),
  postback: z.looseObject({ data: z.string() }).optional(),
})
export type LineEvent = z.infer<typeof LineEvent>

/** The envelope; an event that cannot be read spoils none of its neighbours. */
export const LineDelivery = z.looseObject({ events: z.array(z.unknown()) })

export const MenuStatus = z.object({
  configured: z.boolean(),
  menus: z.array(
    z.object({
      language: Language,
      menu_id: z.string().nullable(),
      digest: z.string().nullable(),
      deployed_at: Time.nullable(),
      current: z.boolean().describe('Whether it shows what this release draws'),
    }),
  ),
})
export type MenuStatus = z.infer<typeof MenuStatus>

export const MenuDeployment = z.object({
  skipped: z.boolean().describe('True without LINE credentials'),
  menus: z.array(z.object({ language: Language, menu_id: z.string(), changed: z.boolean() })),
})
export type MenuDeployment = z.infer<typeof MenuDeployment>

export const webhookEndpoint = endpoint({
  method: 'POST',
  path: '/api/event/webhook',
  service: 'line-bot',
  summary: 'Events of the LINE platform; its signature over the raw body decides',
  bodyKind: 'raw',
  data: z.object({ received: z.int().describe('Events that were not known before') }),
  errors: [400, 401, 413, 503],
})

export const menuStatusEndpoint = endpoint({
  method: 'GET',
  path: '/api/event/admin/richmenu',
  service: 'line-bot',
  summary: 'Which rich menu each language has',
  access: 'manager',
  data: MenuStatus,
  errors: [503],
})

export const deployMenuEndpoint = endpoint({
  method: 'POST',
  path: '/api/event/admin/richmenu',
  service: 'line-bot',
  summary: 'Deploys the rich menu of each language; where nothing has changed, nothing happens',
  access: 'manager',
  data: MenuDeployment,
  errors: [409, 503],
})
