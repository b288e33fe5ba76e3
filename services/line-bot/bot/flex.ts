/** Builds the parts of the bot's Flex messages. */
import type { messagingApi } from '@line/bot-sdk'
import { BotAction } from '#shared/contracts/bot.ts'
import type { Message } from '#shared/service/line/line-client.ts'
import { postbackData } from './keywords.ts'
import type { BotWords } from '#shared/locales/words.ts'

type Component = messagingApi.FlexComponent
type Action = messagingApi.Action

const INK = '#3b2a20'
const MUTED = '#8a7768'
const ACCENT = '#b3231d'
const PAPER = '#fdf8ef'
/** Characters; LINE's limit. */
const ALT_TEXT_MAX = 1_500

export const cut = (text: string, max: number): string => {
  if (text.length <= max) return text
  // A surrogate pair is never split.
  const end = /[\uD800-\uDBFF]/.test(text[max - 2]!) ? max - 2 : max - 1
  return `${text.slice(0, end)}…`
}

export const postback = (action: BotAction, words: BotWords): Action => ({
  type: 'postback',
  label: words.labels[action],
  data: postbackData(action),
  displayText: words.labels[action],
})

/** Characters; LINE refuses a message with a longer label. */
const LABEL_MAX = 20

export const link = (label: string, uri: string): Action => ({
  type: 'uri',
  label: cut(label, LABEL_MAX),
  uri,
})

export const button = (action: Action, primary = true): Component => ({
  type: 'button',
  style: primary ? 'primary' : 'secondary',
  height: 'sm',
  ...(primary ? { color: ACCENT } : {}),
  action,
})

export const paragraph = (text: string): Component => ({
  type: 'text',
  text,
  wrap: true,
  color: INK,
  size: 'md',
})

/** A row with a name on the left and its figure on the right. */
export const figure = (name: string, value: string): Component => ({
  type: 'box',
  layout: 'horizontal',
  spacing: 'md',
  contents: [
    { type: 'text', text: name, color: MUTED, size: 'sm', flex: 4 },
    { type: 'text', text: value, color: INK, size: 'md', flex: 6, align: 'end', weight: 'bold', wrap: true },
  ],
})

export const quickReply = (words: BotWords): messagingApi.QuickReply => ({
  items: BotAction.options.map((action) => ({ type: 'action', action: postback(action, words) })),
})

export function card(options: {
  readonly title: string
  readonly contents: readonly Component[]
  readonly buttons?: readonly Component[]
  readonly imageUrl?: string
}): Message {
  const { title, contents, buttons = [], imageUrl } = options
  const heading: Component = { type: 'text', text: title, weight: 'bold', size: 'lg', color: INK, wrap: true }
  const box = (parts: readonly Component[]): messagingApi.FlexBox => ({
    type: 'box',
    layout: 'vertical',
    spacing: 'md',
    contents: [...parts],
  })
  return {
    type: 'flex',
    altText: cut([title, ...contents.flatMap(plainText)].join(' '), ALT_TEXT_MAX),
    contents: {
      type: 'bubble',
      styles: { body: { backgroundColor: PAPER }, footer: { backgroundColor: PAPER } },
      ...(imageUrl === undefined
        ? {}
        : {
            hero: { type: 'image', url: imageUrl, size: 'full', aspectRatio: '20:13', aspectMode: 'cover' },
          }),
      body: box([heading, ...contents]),
      ...(buttons.length === 0 ? {} : { footer: box(buttons) }),
    },
  }
}

function plainText(component: Component): string[] {
  if (component.type === 'text') return [component.text ?? '']
  return component.type === 'box' ? component.contents.flatMap(plainText) : []
}
