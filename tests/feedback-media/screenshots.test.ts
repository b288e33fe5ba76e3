/** Screenshots: what is accepted, rejected and served. */
import { expect, test } from 'bun:test'
import { screenshotEndpoint, uploadScreenshotEndpoint } from '#shared/contracts/feedback.ts'
import { dataOf, expectCommonHeaders, sentenceOf } from '#tests/helpers/answers.ts'
import { rawRequest } from '#tests/helpers/raw-request.ts'
import { healthOf, newPilgrimId } from '#tests/helpers/test-stack.ts'
import { describeBothStacks } from '#tests/helpers/open-test-stack.ts'
import { claiming, edges, jpeg, ofBytes, png, smoothNoise, textChunk, webp, withExif } from './pictures.ts'

type Bytes = Uint8Array<ArrayBuffer>
const PATH = uploadScreenshotEndpoint.path
const LIMIT = 120
const USER_LIMIT = 5

const form = (field: string, bytes: Bytes, name = 'shot.png'): FormData => {
  const data = new FormData()
  data.set('note', 'hello')
  data.set(field, new File([bytes], name))
  return data
}
const asJson = (image: unknown): RequestInit => ({
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify({ image }),
})
const base64 = (bytes: Bytes): string => Buffer.from(bytes).toString('base64')

describeBothStacks(
  'screenshots',
  (stack) => {
    const upload = (init: RequestInit) => stack.fetch(PATH, { method: 'POST', ...init })
    const stored = async (init: RequestInit): Promise<Bytes> => {
      const { filename, url } = await dataOf(await upload(init), uploadScreenshotEndpoint)
      expect(filename).toMatch(/^[0-9a-f]{32}\.png$/)
      expect(url).toEndWith(`/api/event/feedback-image/${filename}`)
      const answer = await stack.fetch(`/api/event/feedback-image/${filename}`)
      expect(answer.status).toBe(200)
      return new Uint8Array(await answer.arrayBuffer())
    }
    const shape = async (bytes: Bytes) => new Bun.Image(bytes).metadata()

    test('every format in every encoding is served as a PNG of the same picture', async () => {
      const formats = { png: png(60, 40), jpeg: await jpeg(60, 40), webp: await webp(60, 40) }
      for (const bytes of Object.values(formats)) {
        const wrappings: RequestInit[] = [
          { body: bytes },
          { body: bytes, headers: { 'Content-Type': 'text/html' } },
          { body: form('file', bytes) },
          { body: form('picture', bytes) },
          asJson(base64(bytes)),
          asJson(`data:image/whatever;base64,${base64(bytes)}`),
        ]
        for (const wrapping of wrappings) {
          const picture = await stored(wrapping)
          expect(await shape(picture)).toEqual({ width: 60, height: 40, format: 'png' })
          expect(await edges(picture)).toMatchObject({ left: 'red', right: 'blue' })
        }
      }
    })

    test('metadata is removed, orientation is applied', async () => {
      const turned = await stored({ body: withExif(await jpeg(60, 40), 6) })
      expect(await shape(turned)).toMatchObject({ width: 40, height: 60 })
      expect(await edges(turned)).toMatchObject({ top: 'red', bottom: 'blue' })
      const flipped = await stored({ body: withExif(await jpeg(60, 40), 3) })
      expect(await edges(flipped)).toMatchObject({ left: 'blue', right: 'red' })
      const told = await stored({ body: png(60, 40, [textChunk('taken at home')]) })
      for (const picture of [turned, flipped, told])
        expect(Buffer.from(picture).toString('latin1')).not.toMatch(/Exif|GPS|tEXt|taken at home|iCCP|eXIf/)
    })

    test('an incomplete picture or a wrong size is 400, and the service stays healthy', async () => {
      const whole = withExif(await jpeg(400, 300), 1)
      const halves = [png(400, 300), whole, await webp(400, 300)].map((bytes) =>
        bytes.slice(0, Math.floor(bytes.length * 0.6)),
      )
      const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>')
      const html = new Uint8Array(Buffer.from('<!doctype html><script>alert(1)</script>'))
      const gif = new Uint8Array(
        Buffer.from('R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw==', 'base64'),
      )
      const refused: RequestInit[] = [
        ...halves.map((body) => ({ body })),
        { body: new Uint8Array(svg) },
        { body: html },
        { body: form('file', html, 'shot.png') },
        { body: gif },
        { body: new Uint8Array() },
        { body: form('file', new Uint8Array()) },
        { body: new FormData() },
        { body: 'no boundary here', headers: { 'Content-Type': 'multipart/form-data' } },
        { body: 'no such part', headers: { 'Content-Type': 'multipart/form-data; boundary=x' } },
        asJson(''),
        asJson('%%%'),
        asJson(7),
        asJson(base64(html)),
        { body: '{', headers: { 'Content-Type': 'application/json' } },
        { body: '[]', headers: { 'Content-Type': 'application/json' } },
        { body: png(4_097, 1) },
        { body: png(1, 4_097) },
        { body: claiming(30_000, 30_000) },
        { body: claiming(5_000, 4_001) },
        { body: claiming(0, 0) },
        { body: png(8, 8).slice(0, 8) },
      ]
      for (const init of refused) {
        const sentence = await sentenceOf(await upload(init), 400, 'invalid-request')
        expect(sentence).toMatch(/^(image|file|body): /)
      }
      expect((await healthOf(stack)).objects).toBe('ok')
    })

    test('a picture of an iPhone (HEIC) is refused with what to do', async () => {
      const heic = Buffer.from('00000018667479706865696300000000686569636d696631', 'hex')
      const sentence = await sentenceOf(await upload({ body: heic }), 400, 'invalid-request')
      expect(sentence).toContain('Export a picture of another format (HEIC, AVIF) as JPEG')
    })

    test('the largest allowed picture is accepted', async () => {
      expect(await shape(await stored({ body: png(4_096, 4_096) }))).toMatchObject({
        width: 4_096,
        height: 4_096,
      })
    })

    test('102,400 bytes are accepted, 102,401 are 413, with and without Content-Length', async () => {
      expect(await shape(await stored({ body: ofBytes(102_400) }))).toMatchObject({ width: 16 })
      await sentenceOf(await upload({ body: ofBytes(102_401) }), 413, 'too-large')
      const streamed = new ReadableStream({
        start(controller) {
          controller.enqueue(ofBytes(102_401))
          controller.close()
        },
      })
      await sentenceOf(await upload({ body: streamed }), 413, 'too-large')
    })

    test('a small file of many colours is stored in at most 2 MB, scaled down', async () => {
      const bytes = await smoothNoise(1_300)
      expect(bytes.length).toBeLessThan(102_400)
      const picture = await stored({ body: bytes })
      expect(picture.length).toBeLessThan(2_000_000)
      const { width, height } = await shape(picture)
      expect([width === height, width > 400]).toEqual([true, true])
    })

    test('a screenshot is served with an ETag, 304 and HEAD', async () => {
      const { filename } = await dataOf(await upload({ body: png(20, 20) }), uploadScreenshotEndpoint)
      const path = screenshotEndpoint.path.replace(':file', filename)
      const answer = await stack.fetch(path)
      expectCommonHeaders(answer)
      expect(answer.headers.get('content-type')).toBe('image/png')
      expect(answer.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
      const etag = answer.headers.get('etag')!
      expect(etag).toMatch(/^"[^"]+"$/)
      const length = (await answer.arrayBuffer()).byteLength
      for (const seen of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
        const again = await stack.fetch(path, { headers: { 'If-None-Match': seen } })
        expect([again.status, (await again.arrayBuffer()).byteLength]).toEqual([304, 0])
        expect(again.headers.get('etag')).toBe(etag)
      }
      expect((await stack.fetch(path, { headers: { 'If-None-Match': '"other"' } })).status).toBe(200)
      const head = await stack.fetch(path, { method: 'HEAD' })
      expect([head.status, head.headers.get('content-length')]).toEqual([200, String(length)])
      expect((await head.arrayBuffer()).byteLength).toBe(0)
    })

    test('no other file is served, whatever the path is', async () => {
      const { filename } = await dataOf(await upload({ body: png(20, 20) }), uploadScreenshotEndpoint)
      const name = filename.replace('.png', '')
      const paths = [
        name,
        `${name}.jpg`,
        `${name}.PNG`,
        `${name.toUpperCase()}.png`,
        `${'0'.repeat(32)}.png`,
        `..%2fscreenshots%2f${filename}`,
        `%2e%2e%2f${filename}`,
        `screenshots/${filename}`,
        `${filename}/`,
        `${filename}%00`,
        '..',
        '.png',
        'a.png',
        '../../../etc/passwd',
        '%2e%2e/%2e%2e/etc/passwd',
      ]
      for (const path of paths) {
        const answer = await rawRequest(stack, [
          `GET /api/event/feedback-image/${path} HTTP/1.1`,
          'Host: localhost',
        ])
        expect({ path, status: answer.status }).toEqual({ path, status: 404 })
      }
    })

    test('other methods are 405', async () => {
      const answer = await stack.fetch(PATH)
      await sentenceOf(answer, 405, 'method-not-allowed')
      expect(answer.headers.get('allow')).toBe('POST, OPTIONS')
    })

    test('an upload is charged only to the pilgrim whom the header names', async () => {
      const shot = (userId: string) => upload({ body: png(8, 8), headers: { 'X-Line-User-Id': userId } })
      const one = newPilgrimId()
      const statuses: number[] = []
      for (let i = 0; i <= USER_LIMIT; i++) statuses.push((await shot(one)).status)
      expect(statuses).toEqual([...Array<number>(USER_LIMIT).fill(200), 429])
      expect((await shot(newPilgrimId())).status).toBe(200)
      expect((await upload({ body: png(8, 8) })).status).toBe(200)
      expect(await sentenceOf(await shot('not an id'), 400, 'invalid-request')).toStartWith(
        'X-Line-User-Id: ',
      )
    })

    test('too many uploads from one address are 429, before they are decoded (long)', async () => {
      let answer = await upload({ body: png(8, 8) })
      for (let i = 0; i < LIMIT && answer.status === 200; i++) answer = await upload({ body: png(8, 8) })
      await sentenceOf(answer, 429, 'rate-limited')
      await sentenceOf(await upload({ body: 'not a picture' }), 429, 'rate-limited')
    })
  },
  { EVENT_LIMIT_ADDRESS_WRITE: String(LIMIT), EVENT_LIMIT_USER_WRITE: String(USER_LIMIT) },
)
