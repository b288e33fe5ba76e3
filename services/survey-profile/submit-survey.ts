/** A survey: stores the current answers, and the history of earlier ones, in one transaction. */
import { eq, sql } from 'drizzle-orm'
import type { Verdict, Submission } from '#shared/stores/kv/kv.ts'
import { syncTrack, type SyncRules } from '#shared/points/sync-track.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import { time } from '#shared/contracts/fields.ts'
import { MAX_NAMED, StoredAnswers, type SubmitAnswer, type SubmitRequest } from '#shared/contracts/survey.ts'
import { invalid, Refusal } from '#shared/runtime/refusal.ts'
import { surveyHistory, surveys } from '#shared/stores/schema/tables.ts'
import { countSurvey, namesWithoutRoom } from '#shared/pilgrims/survey-counts.ts'
import { upsertPilgrim } from './write-profile.ts'

export interface TrackAdmission {
  readonly admitTrack: (submission: Submission) => Promise<Verdict>
  readonly rules: SyncRules
}

/** Stores the answers, then admits the attached track. A refused track does not fail the request. */
export async function submitSurvey(
  { db, now }: ServiceContext,
  trackAdmission: TrackAdmission,
  request: SubmitRequest,
): Promise<SubmitAnswer> {
  const { user_id: userId, survey, phone, form_version: formVersion, display_name: displayName } = request
  const submittedAt = new Date(now())
  const { revision, answers, dropped } = await db.transaction(async (tx) => {
    const noRoom = await namesWithoutRoom(tx, survey)
    const kept = Object.entries(survey).filter(([name]) => !noRoom.has(name))
    if (kept.length === 0)
      throw invalid('survey: the event has too many names of questions; send answers to q1 to q10')
    const answers = Object.fromEntries(kept)
    const known = { ...(phone !== null && { phone }), ...(displayName !== null && { displayName }) }
    await upsertPilgrim(tx, userId, { surveyCompletedAt: submittedAt, ...known }, submittedAt.getTime())
    const [before] = await tx.orm.select().from(surveys).where(eq(surveys.userId, userId))
    const [row] = await tx.orm
      .insert(surveys)
      .values({ userId, answers, revision: 1, formVersion, submittedAt })
      .onConflictDoUpdate({
        target: surveys.userId,
        set: { answers, formVersion, submittedAt, revision: sql`${surveys.revision} + 1` },
      })
      .returning({ revision: surveys.revision })
    await tx.orm
      .insert(surveyHistory)
      .values({ userId, answers, revision: row!.revision, formVersion, submittedAt })
    await countSurvey(tx, before === undefined ? null : StoredAnswers.parse(before.answers), answers)
    return { revision: row!.revision, answers, dropped: [...noRoom] }
  })
  return {
    userId,
    submitted_at: time(submittedAt),
    answers: Object.keys(answers).length,
    revision,
    track: await admitAttachedTrack(trackAdmission, userId, request.gps_points, now()),
    phone: request.phone_taken,
    ignored: [...request.ignored, ...dropped].slice(0, MAX_NAMED),
  }
}

async function admitAttachedTrack(
  trackAdmission: TrackAdmission,
  userId: string,
  points: readonly unknown[] | null | undefined,
  nowMs: number,
): Promise<SubmitAnswer['track']> {
  if (points === null || points === undefined || points.length === 0) return null
  try {
    return await syncTrack(
      trackAdmission.admitTrack,
      { user_id: userId, points: [...points] },
      nowMs,
      trackAdmission.rules,
    )
  } catch (error) {
    if (error instanceof Refusal) return { refused: error.message }
    throw error
  }
}
