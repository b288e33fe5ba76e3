/** Checks messages by LINE's rules (Messaging API reference, "Message objects", "Action objects", "Flex Message"). */

type Json = Record<string, unknown>

/** An error as LINE reports it: place and reason. */
export interface Fault {
  readonly property: string
  readonly message: string
}

const MAX_MESSAGES = 5
const TEXT = 5_000
const ALT_TEXT = 1_500
const QUICK_REPLIES = 13
const BUBBLE_BYTES = 30 * 1_024
const CAROUSEL_BYTES = 50 * 1_024
const CAROUSEL_BUBBLES = 12
const IMAGE_URL = 2_000
const URI = 1_000
const POSTBACK_DATA = 300
const LABEL = { quickReply: 20, flex: 40 }

const isJson = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Errors of a list of messages; LINE accepts a list without any. */
export function messageFaults(messages: unknown): Fault[] {
  if (!Array.isArray(messages) || messages.length === 0 || messages.length > MAX_MESSAGES)
    return [{ property: 'messages', message: 'Size must be between 1 and 5' }]
  return messages.flatMap((message, i) => faultsOf(message, `messages[${i}]`))
}

function faultsOf(message: unknown, at: string): Fault[] {
  if (!isJson(message)) return [{ property: at, message: 'must be an object' }]
  const faults =
    message.quickReply === undefined ? [] : quickReplyFaults(message.quickReply, `${at}.quickReply`)
  switch (message.type) {
    case 'text':
      return [...faults, ...textFaults(message.text, `${at}.text`, TEXT)]
    case 'image':
      return [
        ...faults,
        ...httpsFaults(message.originalContentUrl, `${at}.originalContentUrl`),
        ...httpsFaults(message.previewImageUrl, `${at}.previewImageUrl`),
      ]
    case 'flex':
      return [
        ...faults,
        ...textFaults(message.altText, `${at}.altText`, ALT_TEXT),
        ...containerFaults(message.contents, `${at}.contents`),
      ]
    default:
      return [{ property: `${at}.type`, message: `unknown type ${String(message.type)}` }]
  }
}

function textFaults(text: unknown, property: string, max: number): Fault[] {
  if (typeof text !== 'string' || text.length === 0) return [{ property, message: 'May not be empty' }]
  return text.length > max ? [{ property, message: `Length must be between 1 and ${max}` }] : []
}

function httpsFaults(url: unknown, property: string): Fault[] {
  if (typeof url !== 'string' || !url.startsWith('https://') || !URL.canParse(url))
    return [{ property, message: 'must be an https URL' }]
  return url.length > IMAGE_URL ? [{ property, message: `Length must be at most ${IMAGE_URL}` }] : []
}

function quickReplyFaults(quickReply: unknown, at: string): Fault[] {
  const items = isJson(quickReply) ? quickReply.items : undefined
  if (!Array.isArray(items) || items.length === 0 || items.length > QUICK_REPLIES)
    return [{ property: `${at}.items`, message: `Size must be between 1 and ${QUICK_REPLIES}` }]
  return items.flatMap((item: unknown, i) =>
    isJson(item) && item.type === 'action'
      ? actionFaults(item.action, `${at}.items[${i}].action`, LABEL.quickReply)
      : [{ property: `${at}.items[${i}]`, message: 'must be an action' }],
  )
}

function actionFaults(action: unknown, at: string, maxLabel: number): Fault[] {
  if (!isJson(action)) return [{ property: at, message: 'must be an action' }]
  const faults = textFaults(action.label, `${at}.label`, maxLabel)
  if (action.type === 'uri') {
    const { uri } = action
    if (typeof uri !== 'string' || !/^(https?|line|tel):/.test(uri) || uri.length > URI)
      faults.push({ property: `${at}.uri`, message: 'invalid uri' })
  } else if (action.type === 'postback') {
    faults.push(...textFaults(action.data, `${at}.data`, POSTBACK_DATA))
    if (action.displayText !== undefined)
      faults.push(...textFaults(action.displayText, `${at}.displayText`, 300))
  } else if (action.type === 'message') {
    faults.push(...textFaults(action.text, `${at}.text`, 300))
  } else faults.push({ property: `${at}.type`, message: `unknown action ${String(action.type)}` })
  return faults
}

function containerFaults(container: unknown, at: string): Fault[] {
  if (!isJson(container)) return [{ property: at, message: 'must be a container' }]
  const bytes = Buffer.byteLength(JSON.stringify(container))
  if (container.type === 'carousel') {
    const { contents } = container
    if (!Array.isArray(contents) || contents.length === 0 || contents.length > CAROUSEL_BUBBLES)
      return [{ property: `${at}.contents`, message: `Size must be between 1 and ${CAROUSEL_BUBBLES}` }]
    if (bytes > CAROUSEL_BYTES) return [{ property: at, message: 'carousel is too large' }]
    return contents.flatMap((bubble: unknown, i) => containerFaults(bubble, `${at}.contents[${i}]`))
  }
  if (container.type !== 'bubble') return [{ property: `${at}.type`, message: 'must be bubble or carousel' }]
  if (bytes > BUBBLE_BYTES) return [{ property: at, message: 'bubble is too large' }]
  const blocks = ['header', 'hero', 'body', 'footer'].filter((block) => container[block] !== undefined)
  if (blocks.length === 0) return [{ property: at, message: 'a bubble needs a block' }]
  return blocks.flatMap((block) => componentFaults(container[block], `${at}.${block}`, block === 'hero'))
}

function componentFaults(component: unknown, at: string, mayBeImage = true): Fault[] {
  if (!isJson(component)) return [{ property: at, message: 'must be a component' }]
  const action =
    component.action === undefined ? [] : actionFaults(component.action, `${at}.action`, LABEL.flex)
  switch (component.type) {
    case 'box': {
      if (!['horizontal', 'vertical', 'baseline'].includes(String(component.layout)))
        return [{ property: `${at}.layout`, message: 'invalid layout' }]
      if (!Array.isArray(component.contents))
        return [{ property: `${at}.contents`, message: 'must be an array' }]
      return [
        ...action,
        ...component.contents.flatMap((one: unknown, i) => componentFaults(one, `${at}.contents[${i}]`)),
      ]
    }
    case 'text':
      return [...action, ...textFaults(component.text, `${at}.text`, 2_000)]
    case 'button':
      return component.action === undefined ? [{ property: `${at}.action`, message: 'is required' }] : action
    case 'image':
      return mayBeImage
        ? [...action, ...httpsFaults(component.url, `${at}.url`)]
        : [{ property: at, message: 'not here' }]
    case 'separator':
      return []
    default:
      return [{ property: `${at}.type`, message: `unknown component ${String(component.type)}` }]
  }
}
