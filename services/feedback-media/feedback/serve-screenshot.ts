/** Serves uploaded screenshots. */
import type { ServiceContext } from '#shared/runtime/context.ts'
import { notFound } from '#shared/http/errors.ts'
import { answerPng } from '../png-answer.ts'
import { screenshotKey } from '#shared/objects/pictures.ts'

/** A name is never reused, so its content never changes. */
const IMMUTABLE = 'public, max-age=31536000, immutable'

/** @throws Refusal 404 for an unknown name */
export async function serveScreenshot(
  { objects }: ServiceContext,
  request: Request,
  file: string,
): Promise<Response> {
  const key = screenshotKey(file)
  const stored = key === null ? null : await objects.get(key)
  if (stored === null) throw notFound('There is no screenshot with this name.')
  return answerPng(request, stored, IMMUTABLE)
}
