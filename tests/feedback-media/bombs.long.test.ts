/** Pictures that are expensive to decode are rejected, while cards and health respond as usual. */
import { expect, test } from 'bun:test'
import { drawCardEndpoint } from '#shared/contracts/cards.ts'
import { uploadScreenshotEndpoint } from '#shared/contracts/feedback.ts'
import { dataOf, sentenceOf } from '#tests/helpers/answers.ts'
import { checkIn, healthOf, newPilgrimId } from '#tests/helpers/test-stack.ts'
import { describeBothStacks } from '#tests/helpers/open-test-stack.ts'
import { jpegBombs } from './bombs/jpeg.ts'
import { pngBombs } from './bombs/png.ts'
import { webpBombs } from './bombs/webp.ts'
import { png } from './pictures.ts'
import { json } from './requests.ts'

const MAX_BYTES = 102_400
/** Time limit of a response that does not wait for the decoder, on a busy machine. */
const ANSWER_MS = 5_000

type Bytes = Uint8Array<ArrayBuffer>

describeBothStacks(
  'costly pictures',
  (stack) => {
    const upload = (body: Bytes) => stack.fetch(uploadScreenshotEndpoint.path, { method: 'POST', body })
    const inTime = async (what: string, answer: () => Promise<unknown>): Promise<void> => {
      const began = performance.now()
      await answer()
      const tookMs = performance.now() - began
      if (tookMs > ANSWER_MS) throw new Error(`${what} took ${Math.round(tookMs)} ms`)
    }

    /** Requests a stored card and the health repeatedly until `work` is done. */
    const meanwhile = async (work: Promise<unknown>): Promise<void> => {
      const userId = newPilgrimId()
      await checkIn(stack, userId)
      await dataOf(await stack.fetch(drawCardEndpoint.path, json({ user_id: userId })), drawCardEndpoint)
      let through = false
      const watch = async (what: string, look: () => Promise<void>): Promise<void> => {
        while (!through) {
          await inTime(what, look)
          await Bun.sleep(100)
        }
      }
      const watches = [
        watch('a card', async () => {
          const answer = await stack.fetch(`/api/event/og/${userId}.png`)
          expect([answer.status, (await answer.arrayBuffer()).byteLength > 10_000]).toEqual([200, true])
        }),
        watch('the health', async () => {
          expect(await healthOf(stack)).toMatchObject({ objects: 'ok' })
        }),
      ]
      await Promise.all([work.finally(() => (through = true)), ...watches])
    }

    /** Each is accepted or rejected within a time limit, and a valid picture after them is accepted. */
    const survives = async (bombs: Record<string, Bytes>, refused: RegExp): Promise<void> => {
      for (const [name, bytes] of Object.entries(bombs)) {
        expect({ name, small: bytes.length <= MAX_BYTES }).toEqual({ name, small: true })
        const answer = await upload(bytes)
        if (answer.status === 200 && !refused.test(name)) await dataOf(answer, uploadScreenshotEndpoint)
        else expect(`${name}: ${await sentenceOf(answer, 400, 'invalid-request')}`).toContain(': image: ')
      }
      await dataOf(await upload(png(60, 40)), uploadScreenshotEndpoint)
    }

    test('two pictures that take minutes are refused, repeatedly and concurrently', async () => {
      const { 'progressive JPEG, 600 empty scans': small, 'progressive JPEG, 2,800 empty scans': large } =
        await jpegBombs()
      // If all services share a process, a decoder that is still running would delay the most.
      const times = stack.kind === 'embedded' ? 3 : 2
      const attack = async (bytes: Bytes | undefined) => {
        for (let i = 0; i < times; i++) {
          const answer = await upload(bytes!)
          // On a busy processor the decoder times out before it has used its two seconds.
          if (answer.status === 503) await sentenceOf(answer, 503, 'unavailable')
          else expect(await sentenceOf(answer, 400, 'invalid-request')).toMatch(/^image: takes too long/)
        }
      }
      await meanwhile(Promise.all([attack(small), attack(large)]))
    }, 120_000)

    test('JPEG bombs in scans, dimensions, segments, profiles, EXIF and ends are answered in time', async () => {
      await meanwhile(survives(await jpegBombs(), /scans|65,500|height/))
    }, 120_000)

    test('PNG bombs in chunks, dimensions, frames, palettes, texts, profiles, data and ends are answered in time', async () => {
      await meanwhile(survives(pngBombs(), /palette$|2³¹|ends in its data/))
    }, 120_000)

    test('WebP bombs in frames, dimensions, chunks, profiles and ends are answered in time', async () => {
      await meanwhile(survives(await webpBombs(), /claimed|2⁴⁸|without a frame|cut/))
    }, 120_000)
  },
  { EVENT_LIMIT_ADDRESS_WRITE: '1000', EVENT_LIMIT_ADDRESS: '1000000' },
)
