/** LINE webhook events and the bot's rich menus. */
import { z } from 'zod'
import { endpointsOf } from './endpoint.ts'
import { Time, exampleText } from './fields.ts'

const endpoint = endpointsOf('line-bot')

/** The languages whose words come with the service. */
export const BuiltInLanguage = z.enum(['zh-Hant', 'zh-Hans', 'en', 'ja'])
export type BuiltInLanguage = z.infer<typeof BuiltInLanguage>

/** A language of pages and messages: built in, or one whose words the owner has uploaded. */
export const Language = z
  .string()
  .regex(/^[a-z]{2,3}(-[A-Z][a-z]{3})?(-[A-Z]{2})?$/, {
    error: 'must be a tag of a language such as nl or pt-BR',
  })
  .meta({ examples: ['en'] })
export type Language = z.infer<typeof Language>

/** More languages than an event can offer. */
const MAX_LANGUAGES = 16

/** A value for each of some languages. */
export const byLanguage = <T extends z.ZodType>(value: T) =>
  z.record(Language, value).refine((values) => Object.keys(values).length <= MAX_LANGUAGES, {
    error: `must have at most ${MAX_LANGUAGES} languages`,
  })

export const BotAction = z.enum([
  'checkin',
  'help',
  'level',
  'carbon',
  'card',
  'share',
  'survey',
  'map',
  'report',
  'data',
  'about',
])
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

/** The end of the year 9999: the database cannot read years of five digits. */
const LAST_MS = 253_402_300_799_999

/** A webhook event: the fields that the bot reads. Other fields are preserved. */
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
      id: z.string().optional(),
      imageSet: z
        .looseObject({ id: z.string(), total: z.int().optional() })
        .optional()
        .describe(
          'Photos that were sent together. LINE leaves out the total where the phone does not know it',
        ),
      text: z.string().optional(),
      mention: z.looseObject({ mentionees: z.array(Mentionee) }).optional(),
    })
    .optional(),
  unsend: z.looseObject({ messageId: z.string() }).optional(),
  postback: z.looseObject({ data: z.string() }).optional(),
})
export type LineEvent = z.infer<typeof LineEvent>

/** The envelope of webhook events. Each event is parsed separately, so an invalid one does not affect the others. */
export const LineDelivery = z.looseObject({
  events: z.array(z.unknown()).meta({ examples: [[{ type: 'follow', source: { type: 'user' } }]] }),
})

export const MenuStatus = z.object({
  configured: z.boolean(),
  menus: z.array(
    z.object({
      language: Language,
      menu_id: z.string().nullable(),
      digest: z.string().nullable(),
      deployed_at: Time.nullable(),
      current: z.boolean().describe('Whether the deployed menu is the one of this release'),
    }),
  ),
})
export type MenuStatus = z.infer<typeof MenuStatus>

export const MenuDeployment = z.object({
  skipped: z.boolean().describe('True without LINE credentials'),
  menus: z.array(
    z.object({
      language: Language,
      menu_id: exampleText('richmenu-0a1b2c'),
      changed: z.boolean(),
    }),
  ),
})
export type MenuDeployment = z.infer<typeof MenuDeployment>

export const webhookEndpoint = endpoint('POST /api/event/webhook', {
  id: 'receiveWebhook',
  summary: 'Receives webhook events from the LINE platform; authenticated by the signature of the raw body',
  bodyKind: 'raw',
  sent: { 'application/json': LineDelivery },
  headers: {
    'X-Line-Signature': 'LINE’s signature of the raw body: HMAC-SHA256 with the channel secret, base64',
  },
  data: z.object({ received: z.int().describe('New events; repeated deliveries are not counted') }),
  errors: ['unauthorized'],
})

export const menuStatusEndpoint = endpoint('GET /api/event/admin/richmenu', {
  id: 'readMenus',
  summary: 'Rich menu of each language',
  access: 'manager',
  data: MenuStatus,
})

export const deployMenuEndpoint = endpoint('POST /api/event/admin/richmenu', {
  id: 'deployMenus',
  summary: 'Deploys the rich menu of each language; unchanged menus are skipped',
  access: 'manager',
  data: MenuDeployment,
  errors: ['conflict'],
})
