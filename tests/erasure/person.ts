/** A person with data in every store, in unique words. */
import { join } from 'node:path'
import { png } from '#tests/feedback-media/pictures.ts'
import { deliver, lineEvent, textEvent } from '#tests/helpers/line-webhook.ts'
import { MINUTE, post } from '#tests/helpers/pilgrim.ts'
import { newDevice, newPushKeys } from '#tests/helpers/push-service.ts'
import type { Places } from '#tests/helpers/stores.ts'
import { admin, checkIn, syncTrack, type TestStack } from '#tests/helpers/test-stack.ts'

/** The data of a person; unique words each time. */
export interface Words {
  readonly name: string
  readonly phone: string
  readonly answer: string
  readonly note: string
  readonly lat: number
}

export interface Person {
  readonly userId: string
  readonly before: Words
  readonly after: Words
}

const hex = (): string => crypto.randomUUID().replaceAll('-', '')
const digits = (count: number): string =>
  Array.from({ length: count }, () => 1 + Math.floor(Math.random() * 9)).join('')

const newWords = (): Words => ({
  name: `name-${hex()}`,
  phone: `+8869${digits(10)}`,
  answer: `answer-${hex()}`,
  note: `note-${hex()}`,
  lat: Number(`24.${digits(9)}`),
})

/** A person with an id in LINE's format. */
export const newPerson = (): Person => ({ userId: `U${hex()}`, before: newWords(), after: newWords() })

/** The words in every form in which a store may contain them. */
export const wordsOf = ({ name, phone, answer, note, lat }: Words): string[] => [
  name,
  phone,
  answer,
  note,
  `${lat}`,
]

export const LNG = 120.67
/** Settings that allow many people behind one address, with Web Push. */
export const MANY_PEOPLE = {
  EVENT_LIMIT_ADDRESS_WRITE: '100000',
  EVENT_LIMIT_DRAWING: '100000',
  ...newPushKeys(),
  // Nothing answers there, so deliveries wait until they are erased.
  EVENT_PUSH_SERVICES: '127.0.0.1:9',
}

export const asOperator = (
  stack: TestStack,
  role: 'owner' | 'manager',
  method: string,
  path: string,
  body?: object,
) =>
  stack.fetch(`/api/event/${path}`, {
    method,
    headers: { 'Content-Type': 'application/json', ...admin(role) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })

export const erase = (stack: TestStack, { userId }: Person): Promise<Response> =>
  asOperator(stack, 'owner', 'DELETE', `admin/users/${userId}`)

/** Every write about a person, by themselves or by others, by name of the write. */
export const WRITES: Readonly<
  Record<string, (stack: TestStack, person: Person, words: Words) => Promise<unknown>>
> = {
  'user/sync': (stack, { userId }, { name }) =>
    post(stack, 'user/sync', { user_id: userId, display_name: name, consumption: { water: 1 } }),
  'user/phone': (stack, { userId }, { phone }) => post(stack, 'user/phone', { user_id: userId, phone }),
  privacy: (stack, { userId }, { note }) => post(stack, 'privacy', { user_id: userId, version: note }),
  'a link': (stack, { userId }) => post(stack, 'shares', { user_id: userId, show_name: true }),
  'a device': (stack, { userId }) =>
    post(stack, 'push-subscriptions', {
      user_id: userId,
      ...newDevice('https://127.0.0.1:9/').subscription,
    }),
  'a tracker and its app': async (stack, { userId }, { note, lat }) => {
    const made = await post(stack, 'trackers', { user_id: userId, label: note })
    const { data } = (await made.json()) as { data?: { key: string } }
    const query = `lat=${lat}&lon=${LNG}&timestamp=${Date.now() - MINUTE}`
    return stack.fetch(`/api/event/ingest/${data?.key ?? 'refused'}/osmand?${query}`)
  },
  'participant-status': (stack, { userId }) =>
    post(stack, 'participant-status', { user_id: userId, status: 'withdrawn' }),
  submit: (stack, { userId }, { answer, lat }) =>
    post(stack, 'submit', {
      user_id: userId,
      survey: { q1: answer },
      gps_points: [{ lat, lng: LNG, timestamp: Date.now() - 3 * MINUTE }],
    }),
  feedback: async (stack, { userId }, { note, name }) => {
    const uploaded = await stack.fetch('/api/event/feedback-upload', { method: 'POST', body: png(2, 2) })
    const { data } = (await uploaded.json()) as { data: { url: string } }
    const given = { user_id: userId, category: 'bug', description: note, contact: name }
    return post(stack, 'feedback', { ...given, screenshot_url: data.url })
  },
  checkin: (stack, { userId }, { lat }) => checkIn(stack, userId, { lat }),
  'track/sync': (stack, { userId }, { lat }) =>
    syncTrack(stack, userId, [
      { lat, lng: LNG, timestamp: Date.now() - 2 * MINUTE },
      { lat, lng: LNG + 0.01, timestamp: Date.now() - MINUTE },
    ]),
  'a role': (stack, { userId }) =>
    asOperator(stack, 'owner', 'POST', 'admin/roles', { user_id: userId, role: 'volunteer' }),
  'a push by name': (stack, { userId }) =>
    asOperator(stack, 'manager', 'POST', 'push', { user_ids: [userId], text: 'hello' }),
  'a message to the bot': (stack, { userId }, { note }) => deliver(stack, [textEvent(userId, note)]),
  'being named in a group': (stack, { userId }) =>
    deliver(stack, [
      textEvent(`U${hex()}`, '@bot @other', {
        source: { type: 'group', groupId: `C${hex()}`, userId: `U${hex()}` },
        message: {
          type: 'text',
          id: '1',
          text: '@bot @other',
          mention: {
            mentionees: [
              { index: 0, length: 4, type: 'user', isSelf: true },
              { index: 5, length: 6, type: 'user', userId },
            ],
          },
        },
      }),
    ]),
  'a photo to the bot': (stack, { userId }) =>
    deliver(stack, [lineEvent(userId, { type: 'message', message: { type: 'image', id: '1' } })]),
  // Last, because points are rejected from then on.
  'privacy taken back': (stack, { userId }) => post(stack, 'privacy', { user_id: userId, agreed: false }),
}

/** Calls that derive something from stored data, or name the person, without new data about them. */
export const DERIVED: Readonly<Record<string, (stack: TestStack, person: Person) => Promise<unknown>>> = {
  'og-image': (stack, { userId }) => post(stack, 'og-image', { user_id: userId }),
  'the card': (stack, { userId }) => stack.fetch(`/api/event/og/${userId}.png`),
  'photos/count': (stack, { userId }) => stack.fetch(`/api/event/photos/count?user_id=${userId}`),
  'a status by an operator': (stack, { userId }) =>
    asOperator(stack, 'manager', 'PUT', `admin/users/${userId}/status`, { status: 'withdrawn' }),
  'a push to all': (stack) =>
    asOperator(stack, 'manager', 'POST', 'push', { audience: 'all', text: 'hello' }),
  'reading everything': async (stack, { userId }) => {
    const { headers } = { headers: admin('owner') }
    for (const path of [
      'data',
      'admin/users',
      'admin/surveys',
      `user/${userId}`,
      `admin/users/${userId}/export`,
    ])
      await (await stack.fetch(`/api/event/${path}`, { headers })).text()
  },
}

/** Executes every write about a person, and has their card drawn. */
export async function fillIn(stack: TestStack, person: Person): Promise<void> {
  for (const write of Object.values(WRITES)) await write(stack, person, person.before)
  // Active again and with consent, because a withdrawn person receives no messages.
  await WRITES.privacy!(stack, person, person.before)
  await post(stack, 'participant-status', { user_id: person.userId, status: 'active' })
  for (const read of ['og-image', 'photos/count']) await DERIVED[read]!(stack, person)
}

export const placesOf = (settings: Partial<Record<string, string>>): Places => ({
  databaseUrl: settings.DATABASE_URL ?? '',
  redisUrl: settings.REDIS_URL ?? '',
  natsUrl: settings.NATS_URL ?? '',
  dataDir: settings.EVENT_DATA_DIR!,
  objectsDir: join(settings.EVENT_DATA_DIR!, 'objects'),
})
