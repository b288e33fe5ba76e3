/** The atlas below the maps of links is read after the start, in parts, and not by the first answer. */
import { expect, test } from 'bun:test'
import { createFeedbackMedia } from '#services/feedback-media/app.ts'
import { isAtlasRead } from '#services/feedback-media/shares/share-ground.ts'
import { openLate, OPEN_MS } from '#tests/erasure/late-writers.ts'
import { describeOnServers } from '#tests/helpers/suite.ts'
import { until } from '#tests/helpers/wait.ts'

describeOnServers('the atlas', () => {
  test(
    'is read after the start, without a request, and others have their turn meanwhile',
    async () => {
      const late = await openLate()
      const service = createFeedbackMedia(late.context)
      expect(isAtlasRead()).toBe(false)
      let turns = 0
      const count = (): void => {
        if (isAtlasRead()) return
        turns++
        setImmediate(count)
      }
      count()
      await service.start()
      await until(isAtlasRead, { timeoutMs: 20_000, what: 'the atlas to be read' })
      expect(turns).toBeGreaterThan(1)
      await service.stop()
      await late.close()
    },
    2 * OPEN_MS,
  )
})
