/** Share links: what they show, to whom, and that they end at once. */
import { expect, test } from 'bun:test'
import { createFeedbackMedia } from '#services/feedback-media/app.ts'
import { BuiltInLanguage } from '#shared/contracts/bot.ts'
import {
  changeShareEndpoint,
  createShareEndpoint,
  listSharesEndpoint,
  MAX_SHARES,
  revokeShareEndpoint,
  type Share,
} from '#shared/contracts/shares.ts'
import { userEndpoint } from '#shared/contracts/user-detail.ts'
import { DatabaseTimeout } from '#shared/stores/db/db.ts'
import { RELEASE } from '#shared/runtime/release.ts'
import { SHARE_WORDS } from '#shared/locales/by-language.ts'
import { dataOf, expectCommonHeaders, sentenceOf } from '#tests/helpers/answers.ts'
import { describeBothStacks } from '#tests/helpers/open-test-stack.ts'
import { MINUTE, post } from '#tests/helpers/pilgrim.ts'
import { openServiceParts } from '#tests/helpers/service-parts.ts'
import {
  admin,
  flushed,
  newAppId,
  newPilgrimId,
  PLACE,
  readAs,
  syncTrack,
} from '#tests/helpers/test-stack.ts'
import { until } from '#tests/helpers/wait.ts'
import { BOTS, metaOf } from './share-previews.ts'

describeBothStacks(
  'links to pass on',
  (stack) => {
    const create = async (userId: string, fields: object = {}): Promise<Share> =>
      dataOf(await post(stack, 'shares', { user_id: userId, ...fields }), createShareEndpoint)
    const page = (id: string, headers: Record<string, string> = { 'Accept-Language': 'en' }, query = '') =>
      stack.fetch(`/s/${id}${query}`, { headers })
    const call = (method: string, path: string, body?: object) =>
      stack.fetch(`/api/event/${path}`, {
        method,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
    const walk = (userId: string) =>
      syncTrack(
        stack,
        userId,
        Array.from({ length: 10 }, (_, i) => ({
          lat: PLACE.lat + i * 0.0005,
          lng: PLACE.lng,
          // The line starts when the link begins to show it; a phone's clock may be a little ahead.
          timestamp: Date.now() + i * 1_000,
        })),
      )
    /** Both the page and its card say that the link has ended. */
    const expectEnded = async ({ id }: Share): Promise<void> => {
      const answer = await page(id)
      expect([answer.status, answer.headers.get('cache-control')]).toEqual([410, 'private, no-store'])
      expectCommonHeaders(answer)
      expect(await answer.text()).toContain(SHARE_WORDS.en.goneTitle)
      await sentenceOf(await page(`${id}.png`), 410, 'gone')
    }

    test('the page of a link has the card, the figures, and all that chats show of it, and no user id', async () => {
      const userId = newAppId()
      await post(stack, 'user/sync', { user_id: userId, display_name: '\u202e林 \u2066<i>"&\u202c' })
      await walk(userId)
      const share = await create(userId, { show_name: true })
      expect(share.id).toMatch(/^[\w-]{24}$/)
      expect(share).toMatchObject({ live_until: null, show_name: true, image_url: `${share.url}.png` })
      for (const agent of BOTS) {
        const answer = await page(share.id, { 'User-Agent': agent })
        expect(answer.status).toBe(200)
        expectCommonHeaders(answer)
        expect(answer.headers.get('cache-control')).toBe('private, no-store')
        expect(answer.headers.get('x-robots-tag')).toBe('noindex')
        const html = await answer.text()
        expect(html).not.toContain(userId)
        expect(JSON.stringify([...answer.headers])).not.toContain(userId)
        expect(html).not.toContain('<i>')
        const meta = metaOf(html)
        expect(meta.get('og:title')).toContain('林 &lt;i&gt;&quot;&amp;')
        expect(meta.get('og:url')).toBe(share.url)
        expect(meta.get('version')).toBe(RELEASE)
        expect(meta.get('twitter:card')).toBe('summary_large_image')
        for (const name of ['og:description', 'og:image:alt', 'og:locale', 'twitter:title'])
          expect(meta.get(name)).toBeTruthy()
        const image = meta.get('og:image')!
        expect(image).toStartWith(`${share.image_url}?v=`)
        const card = await stack.fetch(image.slice(new URL(image).origin.length), {
          headers: { 'User-Agent': agent },
        })
        expect([card.status, card.headers.get('content-type')]).toEqual([200, 'image/png'])
        expect(card.headers.get('cache-control')).toStartWith('private, no-')
        const again = await page(`${share.id}.png`, { 'If-None-Match': card.headers.get('etag')! })
        expect([200, 304]).toContain(again.status)
      }
    })

    test('the page is in the reader’s language, and its policy allows style and script of the service alone', async () => {
      const { id } = await create(newPilgrimId())
      for (const language of BuiltInLanguage.options) {
        for (const answer of [
          await page(id, { 'Accept-Language': language }),
          await page(id, { 'Accept-Language': 'fr' }, `?lang=${language}`),
        ]) {
          const html = await answer.text()
          expect(answer.headers.get('content-language')).toBe(language)
          expect(html).toContain(`<html lang="${language}"`)
          expect(html).toContain(SHARE_WORDS[language].notLive)
          const policy = answer.headers.get('content-security-policy')!
          expect(policy).not.toContain('unsafe')
          for (const kind of ['style', 'script']) expect(policy).toContain(`${kind}-src 'self';`)
          const loaded = [...html.matchAll(/<(?:script|link)\b[^>]*(?:src|href)="([^"]*)"/g)].map(
            ([, address]) => address,
          )
          expect(loaded).toEqual(['/share/page.css', '/share/page.js'])
          for (const address of loaded) expect((await stack.fetch(address!)).status).toBe(200)
          expect(html).not.toMatch(/<style|<script>|\son\w+=|\sstyle=|@import/i)
        }
      }
    })

    test('only a link that says so shows where its pilgrim is, and only for as long as it says', async () => {
      const userId = newAppId()
      await post(stack, 'user/sync', { user_id: userId, display_name: 'Anna' })
      const [live, still] = [await create(userId, { live_hours: 4 }), await create(userId)]
      await walk(userId)
      const at = `${(PLACE.lat + 9 * 0.0005).toFixed(5)},${PLACE.lng.toFixed(5)}`
      const shown = async (share: Share) => (await page(share.id)).text()
      await until(async () => (await shown(live)).includes(at), 'the place on the page')
      const html = await shown(live)
      for (const part of ['class="map"', 'data-way=', SHARE_WORDS.en.now]) expect(html).toContain(part)
      expect(html).not.toContain('Anna')
      expect(html).not.toContain(userId)
      expect(await shown(still)).not.toContain(at)
      const change = (fields: object) => call('PATCH', `shares/${live.id}`, { user_id: userId, ...fields })
      const changed = await dataOf(await change({ live_hours: null, show_name: true }), changeShareEndpoint)
      expect(changed).toMatchObject({ live_until: null, show_name: true })
      const after = await shown(live)
      expect(after).not.toContain(at)
      expect(after).toContain('Anna')
      // Wait until its time has passed.
      await dataOf(await change({ live_hours: 3 / 3_600 }), changeShareEndpoint)
      expect(await shown(live)).toContain(at)
      await until(async () => !(await shown(live)).includes(at), 'the end of live')
    })

    test('a revoked link is gone at once, and only its pilgrim can list, change and revoke it', async () => {
      const [userId, stranger] = [newAppId(), newAppId()]
      const id = crypto.randomUUID().slice(0, 24)
      const shares = [await create(userId, { id }), await create(userId, { live_hours: 1 })]
      // Sent again, it is the same link, and belongs to no one else.
      expect(await create(userId, { id })).toEqual(shares[0]!)
      await sentenceOf(await post(stack, 'shares', { user_id: stranger, id }), 409, 'conflict')
      const list = async (of: string) =>
        dataOf(
          await stack.fetch('/api/event/shares', { headers: { 'X-Line-User-Id': of } }),
          listSharesEndpoint,
        )
      expect((await list(userId)).items).toEqual(shares.toReversed())
      expect((await list(stranger)).items).toEqual([])
      const [first, second] = shares as [Share, Share]
      await sentenceOf(await call('DELETE', `shares/${first.id}?user_id=${stranger}`), 404, 'not-found')
      const takeOver = { user_id: stranger, show_name: true }
      await sentenceOf(await call('PATCH', `shares/${first.id}`, takeOver), 404, 'not-found')
      const revoked = await call('DELETE', `shares/${first.id}?user_id=${userId}`)
      expect(await dataOf(revoked, revokeShareEndpoint)).toEqual({ id: first.id, revoked: true })
      await expectEnded(first)
      expect((await page(second.id)).status).toBe(200)
      expect((await list(userId)).items).toEqual([second])
    })

    test('an id that others may know opens no place, and no list', async () => {
      const userId = `U${'0123456789abcdef'.repeat(2)}`
      await sentenceOf(await post(stack, 'shares', { user_id: userId, live_hours: 1 }), 403, 'forbidden')
      const { id } = await create(userId)
      const live = { user_id: userId, live_hours: 1 }
      await sentenceOf(await call('PATCH', `shares/${id}`, live), 403, 'forbidden')
      await sentenceOf(await call('GET', `shares?user_id=${userId}`), 403, 'forbidden')
    })

    test('withdrawal, a consent taken back, an operator and an erasure end all links, and no new one is made meanwhile', async () => {
      const asOwner = (method: string, path: string, body?: object) =>
        stack.fetch(`/api/event/admin/users/${path}`, {
          method,
          headers: admin('owner'),
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        })
      const ends: Record<string, (userId: string) => Promise<Response>> = {
        withdrawal: (id) => post(stack, 'participant-status', { user_id: id, status: 'withdrawn' }),
        consent: (id) => post(stack, 'privacy', { user_id: id, agreed: false }),
        operator: (id) => asOwner('PUT', `${id}/status`, { status: 'withdrawn' }),
      }
      for (const end of Object.values(ends)) {
        const userId = newAppId()
        const shares = [await create(userId, { live_hours: 1 }), await create(userId)]
        // A link created concurrently is either ended with the others, or rejected.
        const [raced] = await Promise.all([post(stack, 'shares', { user_id: userId }), end(userId)])
        for (const share of shares) await expectEnded(share)
        if (raced.status === 200) await expectEnded(await dataOf(raced, createShareEndpoint))
        await sentenceOf(await post(stack, 'shares', { user_id: userId }), 409, 'conflict')
      }
      const userId = newAppId()
      const share = await create(userId, { live_hours: 1 })
      expect((await asOwner('DELETE', userId)).status).toBe(200)
      await expectEnded(share)
    })

    test('an operator sees that there are links and not their addresses; an export has them', async () => {
      const userId = newAppId()
      const share = await create(userId, { live_hours: 1, show_name: true })
      const detail = await readAs(stack, 'manager', `admin/users/${userId}`)
      const { shares } = await dataOf(detail, userEndpoint)
      const { live_until, show_name, created_at, expires_at } = share
      expect(shares).toEqual([{ made_by: 'pilgrim', live_until, show_name, created_at, expires_at }])
      const exported = await readAs(stack, 'owner', `admin/users/${userId}/export`)
      const rows = (await exported.json()) as { shares: { id: string }[] }
      expect(rows.shares.map(({ id }) => id)).toEqual([share.id])
    })

    test('a pilgrim has a bounded number of links, and wrong requests are refused with a sentence', async () => {
      const userId = newAppId()
      for (let i = 0; i < MAX_SHARES; i++) await create(userId)
      const refused = await sentenceOf(await post(stack, 'shares', { user_id: userId }), 409, 'conflict')
      expect(refused).toContain(`${MAX_SHARES}`)
      for (const fields of [
        { live_hours: 0 },
        { live_hours: 241 },
        { live_hours: '4' },
        { show_name: 'yes' },
      ])
        await sentenceOf(
          await post(stack, 'shares', { user_id: newAppId(), ...fields }),
          400,
          'invalid-request',
        )
      await sentenceOf(await call('GET', 'shares'), 400, 'invalid-request')
      for (const path of ['x', 'x'.repeat(24), '%00', `${'x'.repeat(24)}.png`]) {
        const answer = await page(path)
        expect([path, answer.status]).toEqual([path, 410])
        await answer.text()
      }
    })

    test('where the pilgrim was before the link is not shown', async () => {
      const userId = newAppId()
      await syncTrack(stack, userId, [{ ...PLACE, timestamp: Date.now() - 61 * MINUTE }])
      await flushed(stack)
      const { id } = await create(userId, { live_hours: 1 })
      const html = await (await page(id)).text()
      expect(html).toContain(SHARE_WORDS.en.placeAppears)
      expect(html).not.toContain(String(PLACE.lat))
    })
  },
  { EVENT_LIMIT_USER_WRITE: '1000' },
)

describeBothStacks(
  'a link that is opened too often from one network',
  (stack) => {
    test('says so on a page in the reader’s language, which tries again; its card is refused in JSON', async () => {
      const open = (language: string, path = '/s/unknown') =>
        stack.fetch(path, { headers: { 'Accept-Language': language } })
      await until(async () => (await open('en')).status === 429, 'the limit of the network')
      for (const [language, path] of [
        ['en', '/s/unknown'],
        ['ja', '/s/unknown'],
        ['zh-Hans', '/s/unknown'],
        ['zh-Hant', '/s/unknown?lang=zh-Hant'],
      ] as const) {
        const answer = await open(path.includes('?') ? 'en' : language, path)
        expect([answer.status, answer.headers.get('content-type')]).toEqual([429, 'text/html; charset=utf-8'])
        expectCommonHeaders(answer)
        expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
        expect(answer.headers.get('content-language')).toBe(language)
        const html = await answer.text()
        expect(html).toContain(SHARE_WORDS[language].tooMany)
        expect(html).toContain('/share/page.js')
      }
      await sentenceOf(await open('en', '/s/unknown.png'), 429, 'rate-limited')
    })
  },
  { EVENT_LIMIT_ADDRESS: '100', EVENT_LIMIT_ADDRESS_SECONDS: '3600' },
)

test('without the database the page of a link says that the service does not answer, and tries again', async () => {
  const parts = await openServiceParts()
  try {
    const context = parts.context('feedback-media')
    const read = () => Promise.reject(new DatabaseTimeout())
    const service = createFeedbackMedia({ ...context, db: { ...context.db, read } })
    const open = async (path: string) =>
      service.fetch(new Request(`http://localhost${path}`, { headers: { 'Accept-Language': 'ja' } }))
    const answer = await open('/s/kT2vXq8ZrB0mWc5NfJ7eLp1d')
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5'])
    const html = await answer.text()
    expect(html).toContain(SHARE_WORDS.ja.away)
    expect(html).toContain('/share/page.js')
    expect((await open('/s/kT2vXq8ZrB0mWc5NfJ7eLp1d.png')).headers.get('content-type')).toContain('json')
    await service.stop()
  } finally {
    await parts.close()
  }
})
