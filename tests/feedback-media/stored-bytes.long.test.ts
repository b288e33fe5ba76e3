/** The bytes that an address stores per hour are limited, whatever the size of the sent pictures. */
import { expect, test } from 'bun:test'
import { uploadScreenshotEndpoint } from '#shared/contracts/feedback.ts'
import { dataOf } from '#tests/helpers/answers.ts'
import { openEmbeddedTestStack } from '#tests/helpers/open-test-stack.ts'
import { smoothNoise } from './pictures.ts'

const MB = 1_000_000

test('an address stores 20 MB of pictures in an hour, and is told when it may go on', async () => {
  // The default rate, over an hour: the pictures of the test are within the limit of calls.
  const stack = await openEmbeddedTestStack({
    EVENT_LIMIT_ADDRESS: '360000',
    EVENT_LIMIT_ADDRESS_SECONDS: '3600',
  })
  try {
    // It is forty times as large when stored.
    const body = await smoothNoise(1_300)
    let bytes = 0
    for (;;) {
      const answer = await stack.fetch(uploadScreenshotEndpoint.path, { method: 'POST', body })
      if (answer.status === 429) {
        expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(3_000)
        break
      }
      const { filename } = await dataOf(answer, uploadScreenshotEndpoint)
      const stored = await stack.fetch(`/api/event/feedback-image/${filename}`)
      bytes += (await stored.arrayBuffer()).byteLength
      expect(bytes).toBeLessThan(22 * MB)
    }
    expect(bytes).toBeGreaterThan(18 * MB)
  } finally {
    await stack.close()
  }
}, 120_000)
