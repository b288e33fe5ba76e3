/**
 * No public page or response contains the id of a pilgrim whom the request does not name: JSON, pages,
 * assets, pictures and headers are searched for ids in every encoding that a response could use.
 */
import { beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { PAGES } from '#proxy/pages/pages.ts'
import { uploadScreenshotEndpoint } from '#shared/contracts/feedback.ts'
import type { Endpoint } from '#shared/contracts/endpoint.ts'
import { ENDPOINTS } from '#shared/contracts/endpoints.ts'
import { type EventMap, mapEndpoint } from '#shared/contracts/map.ts'
import { createShareEndpoint } from '#shared/contracts/shares.ts'
import { png } from '#tests/feedback-media/pictures.ts'
import { dataOf } from '#tests/helpers/answers.ts'
import { describeBothStacks } from '#tests/helpers/open-test-stack.ts'
import { lineUser } from '#tests/helpers/line-server.ts'
import { MINUTE, post } from '#tests/helpers/pilgrim.ts'
import {
  callAs,
  checkIn,
  flushed,
  newAppId,
  newPilgrimId,
  PLACE,
  syncTrack,
} from '#tests/helpers/test-stack.ts'
import { newTracker } from '#tests/helpers/trackers.ts'
import { until } from '#tests/helpers/wait.ts'

const ROUTE = join(import.meta.dir, '../tools/crowd/route.geojson')
const SETTINGS = {
  EVENT_ROUTE: ROUTE,
  EVENT_MAP_CROWD: '2',
  EVENT_LIMIT_USER_WRITE: '1000',
  EVENT_LIMIT_ADDRESS_WRITE: '100000',
}
const SEED_MS = 60_000
const BROWSER = { 'Accept-Language': 'zh-Hant', 'User-Agent': 'Mozilla/5.0 (Linux; Android 14)' }
/** Encodings of a LINE id, an app id and an invented id. */
const FORMS: readonly ((id: string) => string)[] = [
  (id) => id,
  (id) => id.toLowerCase(),
  (id) => id.toUpperCase(),
  // Without the last characters, which depend on what follows in a longer text.
  (id) => Buffer.from(id).toString('base64').slice(0, 20),
  (id) => Buffer.from(id).toString('hex'),
  ...(['md5', 'sha1', 'sha256', 'sha512'] as const).flatMap((name) =>
    // An unkeyed hash can be recognised by anyone who knows the id.
    (['hex', 'base64url'] as const).map(
      (form) => (id: string) => new Bun.CryptoHasher(name).update(id).digest(form).slice(0, 16),
    ),
  ),
]

interface Person {
  readonly userId: string
  readonly shares: readonly string[]
  readonly key: string
}

/** The ids contained in a body or a header. */
const heldBy = (text: string, ids: readonly string[]): string[] =>
  ids.filter((id) => FORMS.some((form) => text.includes(form(id))))

describeBothStacks(
  'ids of pilgrims',
  (stack) => {
    const people: Person[] = []
    let screenshot: string
    let version: number

    /** A response as text, including its headers; each byte becomes a character. */
    const textOf = async (path: string): Promise<{ status: number; text: string; type: string }> => {
      const answer = await stack.fetch(path, { headers: BROWSER })
      const type = answer.headers.get('content-type') ?? ''
      const bytes = Buffer.from(await answer.arrayBuffer())
      if (type === 'image/png') expectNoText(bytes)
      return {
        status: answer.status,
        type,
        text: `${bytes.toString('latin1')}\n${JSON.stringify([...answer.headers])}`,
      }
    }

    /** A pilgrim's actions during an event; the responses are searched for the others' ids. */
    async function take(userId: string, i: number): Promise<Person> {
      await post(stack, 'user/sync', {
        user_id: userId,
        ...(i % 2 === 0 ? { display_name: `Anna ${i}` } : {}),
        consumption: { water: 2 },
      })
      await post(stack, 'privacy', { user_id: userId, version: '1' })
      await post(stack, 'submit', { user_id: userId, q1: 'yes' })
      await syncTrack(
        stack,
        userId,
        Array.from({ length: 5 }, (_, k) => ({
          lat: PLACE.lat + k * 1e-4,
          lng: PLACE.lng,
          timestamp: Date.now() - (10 - k) * MINUTE,
        })),
      )
      await checkIn(stack, userId)
      await post(stack, 'feedback', {
        user_id: userId,
        category: 'bug',
        description: `The map stands still ${i}`,
        contact: 'a@example.org',
      })
      const own = userId.startsWith('w-')
      const shares: string[] = []
      for (const fields of [{ show_name: true, ...(own ? { live_hours: 2 } : {}) }, { show_name: false }])
        shares.push(
          (await dataOf(await post(stack, 'shares', { user_id: userId, ...fields }), createShareEndpoint)).id,
        )
      const { key } = await newTracker(stack, userId)
      return { userId, shares, key }
    }

    beforeAll(async () => {
      const ids = [newAppId(), lineUser(71), newPilgrimId(), newAppId()]
      people.push(...(await Promise.all(ids.map(take))))
      const upload = await stack.fetch('/api/event/feedback-upload', { method: 'POST', body: png(2, 2) })
      screenshot = (await dataOf(upload, uploadScreenshotEndpoint)).filename
      const dutch = { language: 'nl', texts: { 'walk.back': 'Terug' }, version: 0 }
      await callAs(stack, 'owner', 'PUT', 'admin/settings/translation', dutch)
      await flushed(stack)
      const map = await until(
        async () => {
          const known = (await dataOf(await stack.fetch('/api/event/map'), mapEndpoint)) as EventMap
          return known.on_map === people.length && known
        },
        'everybody on the map',
        { timeoutMs: 30_000, everyMs: 500 },
      )
      version = map.version - 1
    }, 2 * SEED_MS)

    const ofPublic = ENDPOINTS.filter(
      ({ method, access }) => method === 'GET' && (access === 'public' || access === 'optional'),
    )
    /** The URLs of an endpoint that a stranger may open, or that name this pilgrim. */
    function addressesOf({ path, caller }: Endpoint, { userId, shares, key }: Person): string[] {
      if (path === '/s/:file') return shares.flatMap((id) => [`/s/${id}`, `/s/${id}.png`, `/s/${id}x`])
      if (path === '/api/event/map') return [path, `${path}?since=${version}`]
      const files: Readonly<Record<string, string>> = {
        '/api/event/og/:file': `${userId}.png`,
        '/api/event/feedback-image/:file': screenshot,
      }
      const values: Readonly<Record<string, string | undefined>> = {
        userId,
        key,
        file: files[path],
        language: 'nl',
      }
      const filled = path.replaceAll(/:(\w+)/g, (_, name: string) => {
        const value = values[name]
        if (value === undefined) throw new Error(`${path}: no value for ${name}`)
        return value
      })
      return [caller === 'query' ? `${filled}?user_id=${userId}` : filled]
    }

    test('no public answer holds an id that the request does not name', async () => {
      const ids = people.map(({ userId }) => userId)
      const seen = new Set<string>()
      const found: unknown[] = []
      for (const [i, person] of people.entries())
        for (const endpoint of ofPublic) {
          const paths = addressesOf(endpoint, person)
          // A URL that names nobody is the same for everyone.
          if (i > 0 && paths.every((path) => seen.has(path))) continue
          for (const path of paths) {
            seen.add(path)
            const { status, text } = await textOf(path)
            if (person.userId.startsWith('w-') && !path.endsWith('x'))
              expect([path, status]).toEqual([path, 200])
            const named = path.includes(person.userId)
            const held = heldBy(text, ids).filter((id) => !named || id !== person.userId)
            if (held.length > 0) found.push({ path, held })
          }
        }
      expect(found).toEqual([])
    }, 90_000)

    test('the answers that are searched are those of a running event', async () => {
      const { shares } = people.find(({ userId }) => userId.startsWith('w-'))!
      expect((await textOf(`/s/${shares[0]}`)).text).toContain('Anna')
      expect((await textOf(`/s/${shares[0]}.png`)).type).toBe('image/png')
      expect((await textOf('/api/event/feedback')).text).toContain('The map stands still')
      const { points } = JSON.parse(await (await stack.fetch('/api/event/data')).text()).data as {
        points: unknown[]
      }
      expect(points.length).toBeGreaterThan(0)
      const { userId } = people[0]!
      for (const form of FORMS) expect(heldBy(`… ${form(userId)} …`, [userId])).toEqual([userId])
    })

    test('no page, asset or error page of the site holds an id', async () => {
      const ids = people.map(({ userId }) => userId)
      const waiting = [
        ...PAGES.map(({ path, byService }) => (byService === true ? `${path}page.js` : path)),
        '/manifest.webmanifest',
        '/sw.js',
        '/nowhere',
      ]
      const seen = new Set(waiting)
      const found: unknown[] = []
      for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
        const { text } = await textOf(path)
        const held = heldBy(text, ids)
        if (held.length > 0) found.push({ path, held })
        // Only text refers to further assets; the file list in a service worker is text too.
        for (const [name] of text.matchAll(/\/assets\/[\w./-]+\w/g))
          if (!seen.has(name)) {
            seen.add(name)
            waiting.push(name)
          }
      }
      expect(found).toEqual([])
      expect([...seen].filter((path) => path.endsWith('.js')).length).toBeGreaterThan(PAGES.length - 1)
    }, 90_000)
  },
  SETTINGS,
)

/** A picture contains pixels and no text. */
function expectNoText(bytes: Buffer): void {
  const chunks: string[] = []
  for (let at = 8; at < bytes.length; at += 12 + bytes.readUInt32BE(at))
    chunks.push(bytes.toString('latin1', at + 4, at + 8))
  expect(chunks.filter((name) => /^(tEXt|zTXt|iTXt|eXIf)$/.test(name))).toEqual([])
  expect(chunks.at(-1)).toBe('IEND')
}
