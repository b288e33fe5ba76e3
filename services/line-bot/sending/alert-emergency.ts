/** Alerts owners, managers and `EVENT_ALERT_USER_ID` of an emergency, by LINE and Web Push. */
import { and, eq, gt, isNull } from 'drizzle-orm'
import type { Language } from '#shared/contracts/bot.ts'
import type { Emergency } from '#shared/contracts/emergencies.ts'
import type { Payload } from '#shared/contracts/events.ts'
import { telephoneUri } from '#shared/core/rules/telephone.ts'
import { BOT_WORDS } from '#shared/locales/by-language.ts'
import { readEmergencies } from '#shared/pilgrims/emergencies.ts'
import { lockRecipients } from '#shared/pilgrims/person-lock.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import type { Message } from '#shared/service/line/line-client.ts'
import { ROLE_LEVEL } from '#shared/service/security/admin-auth.ts'
import { emergencies, type Notice } from '#shared/stores/schema/tables.ts'
import { button, card, cut, figure, link, paragraph } from '../bot/flex.ts'
import { selectStaff } from './audience.ts'
import { planMessage } from './plan-message.ts'

/** Beyond so many emergencies in an hour one message names their number: invented ones must not use up the quota. */
const ALERTS_PER_HOUR = 20
const HOUR_MS = 3_600_000
/** Characters of a name in the title. */
const MAX_NAME = 60

/** Plans the alert, unless the emergency is confirmed or erased by now. Repeated calls plan it once. */
export async function alertEmergency(
  context: ServiceContext,
  configured: boolean,
  { emergency_id: id }: Payload<'event.tracking.emergency.raised'>,
): Promise<void> {
  const { config, db, now } = context
  const unconfirmed = and(eq(emergencies.id, id), isNull(emergencies.confirmedAt))!
  const [emergency] = await readEmergencies(context, unconfirmed)
  if (emergency === undefined) return
  await db.orm.transaction(async (tx) => {
    await lockRecipients(tx)
    // With the lock no erasure runs that would not find the message.
    if ((await tx.$count(emergencies, unconfirmed)) === 0) return
    const count = await tx.$count(emergencies, gt(emergencies.raisedAt, new Date(now() - HOUR_MS)))
    const isOne = count <= ALERTS_PER_HOUR
    const selected = await selectStaff(tx, context)
    await planMessage(tx, {
      cause: 'emergency',
      causeKey: isOne ? `emergency:${id}` : `emergencies:${Math.floor(now() / HOUR_MS)}`,
      audience: { user_ids: [...selected.everybody.values()].flat() },
      selected,
      content: (language) => [
        isOne ? alertCard(context, language, emergency) : manyCard(context, language, count),
      ],
      ...(config.push === null
        ? {}
        : {
            notice: (language: Language) =>
              isOne
                ? noticeOf(context, language, emergency)
                : {
                    title: context.event.current.nameFor(language),
                    body: BOT_WORDS[language].sos.many(count),
                  },
          }),
      forced: true,
      isUrgent: true,
      configured,
      nowMs: now(),
    })
  })
}

const consoleOf = ({ config }: ServiceContext): string => `${config.publicUrl}/admin/`

/** The least of those who read an alert. */
const MANAGER = { level: ROLE_LEVEL.manager }

const titleOf = (context: ServiceContext, language: Language, { display_name: name, userId }: Emergency) =>
  BOT_WORDS[language].sos.title(cut(name ?? context.pseudonyms.hide(userId, MANAGER), MAX_NAME))

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
  const words = BOT_WORDS[language].sos
  if (place === null) return [words.place, words.unknown]
  const accuracy = place.accuracy === null ? '' : ` ±${Math.round(place.accuracy)} m`
  const degrees = `${place.lat.toFixed(5)}, ${place.lng.toFixed(5)}${accuracy}`
  return place.of_press
    ? [words.place, degrees]
    : [words.lastPlace, `${degrees} (${timeOf(context, language, place.at)})`]
}

function alertCard(context: ServiceContext, language: Language, emergency: Emergency): Message {
  const words = BOT_WORDS[language].sos
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
      figure(words.pressed, timeOf(context, language, pressedAt)),
      figure(...placeOf(context, language, emergency)),
      figure(words.phone, phone ?? words.unknown),
      paragraph(words.confirm),
    ],
    buttons: actions.map((action, i) => button(action, i === 0)),
  })
}

function manyCard(context: ServiceContext, language: Language, count: number): Message {
  const words = BOT_WORDS[language].sos
  return card({
    title: words.many(count),
    contents: [paragraph(words.confirm)],
    buttons: [button(link(words.console, consoleOf(context)))],
  })
}

function noticeOf(context: ServiceContext, language: Language, emergency: Emergency): Notice {
  const words = BOT_WORDS[language].sos
  const { phone, last_press_at: pressedAt } = emergency
  const lines = [
    [words.pressed, timeOf(context, language, pressedAt)],
    placeOf(context, language, emergency),
    [words.phone, phone ?? words.unknown],
  ]
  return {
    title: titleOf(context, language, emergency),
    body: lines.map((line) => line.join(' ')).join('\n'),
  }
}
