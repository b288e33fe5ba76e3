/** The parts of the event's settings: their names, and how each is saved. */
import type { Answer, Input } from '#shared/client/index.ts'
import type { EventPart } from '#shared/contracts/event-settings.ts'
import type { EventSettings } from '../../event.ts'
import { client } from '../../session.ts'
import { words } from '../../words.ts'

/** The parts that describe the event. A rehearsal is a state of the installation. */
export type FilePart = Exclude<EventPart, 'rehearsal'>

type Save = (input: never) => Promise<Answer<EventSettings>>

/** Translations first: a language is offered only with its words. @param version of what the file replaces */
async function saveLanguages({
  translations = {},
  version,
  ...offered
}: Input<'setEventLanguages'> & {
  readonly translations?: EventSettings['languages']['value']['translations']
}): Promise<Answer<EventSettings>> {
  let current = version
  for (const [language, texts] of Object.entries(translations)) {
    const answer = await client.setTranslation({ language, texts, version: current })
    if (!answer.ok) return answer
    current = answer.data.version
  }
  return client.setEventLanguages({ ...offered, version: current })
}

const SAVES: Readonly<Record<FilePart, Save>> = {
  name: client.setEventName,
  route: client.setEventRoute,
  contact: client.setEventContact,
  notice: client.setEventNotice,
  languages: saveLanguages,
  words: client.setEventWords,
  survey: client.setEventSurvey,
  messages: client.setEventMessages,
}

/**
 * Saves a part as it is in a file; the service rejects invalid values.
 * @param version as in `setEventName`
 */
export const savePart = (part: FilePart, value: object, version: number) =>
  SAVES[part]({ ...value, version } as never)

export function partTitle(part: FilePart): string {
  const { event, route, survey, templates } = words.value
  return {
    name: event.name,
    route: route.title,
    contact: event.contact,
    notice: event.notice,
    languages: event.languages,
    words: event.words,
    survey: survey.title,
    messages: templates.title,
  }[part]
}
