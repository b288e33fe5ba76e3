/** How each kind of entry is sent. Sending is idempotent: the service stores a repeated entry once. */
import type { Answer, CallOptions, Data, Entry, Failure } from '#shared/client/index.ts'
import { client } from './service.ts'

/** Changes to the profile at the service. Absent fields stay unchanged. */
export interface PersonFields {
  /** Unique for a consent, so that consents never merge. */
  readonly key?: string
  readonly display_name?: string
  /** BCP 47. */
  readonly language?: string
  /** Version of the privacy notice that was agreed to or declined. Absent: the entry has no consent. */
  readonly version?: string
  /** False withdraws the consent. */
  readonly agreed?: boolean
}

export async function sendPerson({ userId, fields }: Entry, options: CallOptions): Promise<Answer<unknown>> {
  const { key: _, version, agreed = true, ...named } = fields as PersonFields
  const sendName = () => client.syncProfile({ user_id: userId, ...named }, options)
  const sendConsent = () => client.setPrivacy({ user_id: userId, agreed, version: version ?? '' }, options)
  const steps = [
    ...(Object.keys(named).length > 0 ? [sendName] : []),
    ...(version === undefined ? [] : [sendConsent]),
  ]
  // Send the name first: the service rejects it for an erased pilgrim, whereas a consent would register
  // the pilgrim again.
  // Send a withdrawal first.
  const [first, then] = agreed ? steps : steps.toReversed()
  const answer: Answer<unknown> = await first!()
  return !answer.ok || then === undefined ? answer : then()
}

/** Where a report was written; visible to operators only. */
export interface ReportedPlace {
  readonly device_info?: {
    readonly place: {
      readonly lat: number
      readonly lng: number
      /** Metres. */
      readonly accuracy: number
      /** ISO 8601. */
      readonly at: string
    }
  }
}

export interface ReportFields extends ReportedPlace {
  readonly key: string
  readonly category: string
  readonly text: string
  /** A data URL of the reduced picture; null: none, or it is already uploaded. */
  readonly picture: string | null
  /** Address of the uploaded picture. */
  readonly pictureUrl: string | null
}

/**
 * Position searches that reports wait for. If the page ends, the next one sends its reports without a
 * position.
 */
export const placesLookedFor = new Map<string, Promise<ReportedPlace>>()

/** @param note stores further fields of the report */
export async function sendReport(
  { userId, fields }: Entry,
  options: CallOptions,
  note: (more: Partial<ReportFields>) => Promise<unknown>,
): Promise<Answer<Partial<Data<'submitFeedback'>>>> {
  const { key, category, text, picture, ...rest } = fields as ReportFields
  // Only fields that were added after the report was sent.
  if (text === undefined) return { ok: true, status: 200, data: {}, headers: new Headers() }
  const found = await placesLookedFor.get(key)
  let { pictureUrl } = rest
  if (picture !== null) {
    const sent = await upload(picture, options)
    if (!sent.ok) return sent
    pictureUrl = sent.url
    // Upload the picture once, even if the report needs several attempts.
    await note({ picture: null, pictureUrl })
  }
  const place = found?.device_info ?? rest.device_info
  return client.submitFeedback(
    {
      user_id: userId,
      // Deduplicates a report whose response was lost.
      report_id: key,
      category,
      description: text,
      user_agent: navigator.userAgent.slice(0, 400),
      ...(place === undefined ? {} : { device_info: place }),
      ...(pictureUrl === null ? {} : { screenshot_url: pictureUrl }),
    },
    options,
  )
}

async function upload(
  picture: string,
  options: CallOptions,
): Promise<{ readonly ok: true; readonly url: string } | Failure> {
  const answer = await client.uploadScreenshot({ body: blobOf(picture) }, options)
  return answer.ok ? { ok: true, url: answer.data.url } : answer
}

const TYPE = 'image/jpeg'
const PREFIX = `data:${TYPE};base64,`

/** A picture as text, for the device's storage. */
export async function dataUrlOf(picture: Blob): Promise<string> {
  const bytes = new Uint8Array(await picture.arrayBuffer())
  return PREFIX + btoa(Array.from(bytes, (byte) => String.fromCodePoint(byte)).join(''))
}

function blobOf(dataUrl: string): Blob {
  const bytes = Uint8Array.from(atob(dataUrl.slice(PREFIX.length)), (character) => character.codePointAt(0)!)
  return new Blob([bytes], { type: TYPE })
}

/** A share link. Its id is generated on the phone, so repeated sending creates one link. */
export interface ShareFields {
  readonly id: string
  readonly show_name: boolean
  readonly live_hours?: number
}

export const sendShare = (
  { userId, fields }: Entry,
  options: CallOptions,
): Promise<Answer<Data<'createShare'>>> =>
  client.createShare({ user_id: userId, ...(fields as ShareFields) }, options)

/** Revokes a link. A link that has already ended counts as success. */
export const sendUnshare = ({ userId, fields }: Entry, options: CallOptions): Promise<Answer<unknown>> =>
  client.revokeShare({ user_id: userId, id: (fields as { readonly id: string }).id }, options)

/** A chosen value, several values, a number, or a text, by question. */
export type SurveyAnswers = Readonly<Record<string, string | number | readonly string[]>>

/** Entries stored by releases before 1.5.0 have no version. */
export interface SurveyFields {
  readonly answers: SurveyAnswers
  readonly formVersion?: number
}

export function sendSurvey({ userId, fields }: Entry, options: CallOptions): Promise<Answer<unknown>> {
  const { answers, formVersion } = fields as unknown as SurveyFields
  const survey = answers as Record<string, string | number | string[]>
  return client.submitSurvey({ user_id: userId, survey, form_version: formVersion ?? null }, options)
}
