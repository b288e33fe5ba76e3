/** The content of an emergency alert, in LINE and by Web Push. `unconfirmedMin`: minutes without a confirmation. */
import type { Language } from '#shared/contracts/bot.ts'
import type { Emergency } from '#shared/contracts/emergencies.ts'
import { telephoneUri } from '#shared/core/rules/telephone.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import type { Message } from '#shared/service/line/line-client.ts'
import { ROLE_LEVEL } from '#shared/service/security/admin-auth.ts'
import type { Notice } from '#shared/stores/schema/tables.ts'
import { button, card, cut, figure, link, paragraph } from '../bot/flex.ts'

/** Maximum characters of a name in the title. */
const MAX_NAME = 60

const consoleOf = ({ config }: ServiceContext): string => `${config.publicUrl}/admin/`

/** The lowest tier that receives alerts. */
const MANAGER = { level: ROLE_LEVEL.manager }

const titleOf = (context: ServiceContext, language: Language, { display_name: name, userId }: Emergency) =>
  context.event.current
    .wordsFor(language)
    .bot.sos.title(cut(name ?? context.pseudonyms.hide(userId, MANAGER), MAX_NAME))

/** Day and time in the event's time zone. */
const timeOf = ({ config }: ServiceContext, language: Language, time: string): string =>
  new Intl.DateTimeFormat(language, {
    timeZone: config.timeZone,
    month: 'numeric',
    day: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  }).format(Date.parse(time))

/** Label and text of the place. */
function placeOf(context: ServiceContext, language: Language, { place }: Emergency): [string, string] {
  const words = context.event.current.wordsFor(language).bot.sos
  if (place === null) return [words.place, words.unknown]
  const accuracy = place.accuracy === null ? '' : ` ±${Math.round(place.accuracy)} m`
  const degrees = `${place.lat.toFixed(5)}, ${place.lng.toFixed(5)}${accuracy}`
  return place.of_press
    ? [words.place, degrees]
    : [words.lastPlace, `${degrees} (${timeOf(context, language, place.at)})`]
}

export function alertCard(
  context: ServiceContext,
  language: Language,
  emergency: Emergency,
  unconfirmedMin: number | null,
): Message {
  const words = context.event.current.wordsFor(language).bot.sos
  const { place, phone, last_press_at: pressedAt } = emergency
  const map = place && `https://www.google.com/maps/search/?api=1&query=${place.lat},${place.lng}`
  const actions = [
    phone === null ? null : link(words.call, telephoneUri(phone)),
    map === null ? null : link(words.map, map),
    link(words.console, consoleOf(context)),
  ].filter((action) => action !== null)
  return card({
    title: titleOf(context, language, emergency),
    contents: [
      ...(unconfirmedMin === null ? [] : [paragraph(words.unconfirmed(unconfirmedMin))]),
      figure(words.pressed, timeOf(context, language, pressedAt)),
      figure(...placeOf(context, language, emergency)),
      figure(words.phone, phone ?? words.unknown),
      paragraph(words.confirm),
    ],
    buttons: actions.map((action, i) => button(action, i === 0)),
  })
}

/** @param withPoints number of pilgrims with stored points */
export function manyCard(
  context: ServiceContext,
  language: Language,
  count: number,
  withPoints: number,
): Message {
  const words = context.event.current.wordsFor(language).bot.sos
  return card({
    title: words.many(count, withPoints),
    contents: [paragraph(words.confirm)],
    buttons: [button(link(words.console, consoleOf(context)))],
  })
}

export function noticeOf(
  context: ServiceContext,
  language: Language,
  emergency: Emergency,
  unconfirmedMin: number | null,
): Notice {
  const words = context.event.current.wordsFor(language).bot.sos
  const { phone, last_press_at: pressedAt } = emergency
  const lines = [
    ...(unconfirmedMin === null ? [] : [[words.unconfirmed(unconfirmedMin)]]),
    [words.pressed, timeOf(context, language, pressedAt)],
    placeOf(context, language, emergency),
    [words.phone, phone ?? words.unknown],
  ]
  return {
    title: titleOf(context, language, emergency),
    body: lines.map((line) => line.join(' ')).join('\n'),
  }
}
