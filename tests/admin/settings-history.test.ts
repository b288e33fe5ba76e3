/** The history of the event's settings is bounded, because every report of the survey and every change reads it. */
import { expect, test } from 'bun:test'
import { changePart, setPart } from '#services/admin/event/set-event.ts'
import type { SurveyQuestion } from '#shared/contracts/event-settings.ts'
import { readVersions } from '#shared/pilgrims/event-settings.ts'
import { readConfig } from '#shared/runtime/config/config.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import { surveyHistory, surveys } from '#shared/stores/schema/tables.ts'
import { describeFlushHarness } from '#tests/scheduler/flush-harness.ts'

const OWNER = { name: 'owner', role: 'owner', level: 3, requestId: 'test', fingerprint: 'test' } as const

/** About 48 kB. @param mark differs in each version */
const questions = (mark: string): SurveyQuestion[] =>
  Array.from({ length: 10 }, (_, i) => ({
    kind: 'several',
    ask: { en: `${mark} ${i}` },
    choices: Array.from({ length: 20 }, (_, at) => ({ value: `${at}`, names: { th: 'ก'.repeat(70) } })),
  }))

describeFlushHarness('old versions of a part', (harness) => {
  test('are deleted beyond 250 kB, but not the questions that were answered', async () => {
    const { db } = harness
    await db.sql`TRUNCATE event_settings`
    const context = {
      config: readConfig({}),
      db,
      event: { refresh: () => Promise.resolve() },
      now: () => harness.nowMs,
    } as unknown as ServiceContext
    const versionsOf = async (name: string) =>
      (await db.transaction(readVersions)).flatMap(({ part, version }) => (part === name ? [version] : []))
    for (const version of [0, 1, 2]) {
      await setPart(context, OWNER, 'survey', { questions: questions(`Q${version}`), version })
      if (version === 2) continue
      const answered = { userId: 'anna', answers: {}, revision: 1, submittedAt: new Date() }
      await db.orm
        .insert(version === 0 ? surveys : surveyHistory)
        .values({ ...answered, formVersion: version + 1 })
    }
    for (let version = 3; version < 12; version++)
      await setPart(context, OWNER, 'survey', { questions: questions(`Q${version}`), version })
    expect(await versionsOf('survey')).toEqual([1, 2, 8, 9, 10, 11, 12])

    // The latest version stays, whatever its size, and so does the history of other parts.
    for (let version = 12; version < 15; version++)
      await changePart(context, OWNER, 'languages', {
        version,
        changed: (before) => ({
          ...before,
          translations: { th: { 'walk.back': 'ก'.repeat(100_000) + version } },
        }),
      })
    expect(await versionsOf('languages')).toEqual([15])
    expect(await versionsOf('survey')).toHaveLength(7)
    await db.sql`TRUNCATE event_settings`
  })
})
