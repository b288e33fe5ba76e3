/** The bot's answer to each action: pure functions of the pilgrim's figures. */
import type { BotAction } from '#shared/contracts/bot.ts'
import type { Message } from '#shared/service/line/line-client.ts'
import { button, card, figure, link, paragraph, postback, quickReply } from './flex.ts'
import type { BotWords } from '#shared/locales/words.ts'
import type { Event } from '#shared/pilgrims/event-settings.ts'
import { telephoneUri } from '#shared/core/rules/telephone.ts'
import { carbonIn, figure as written, kmToGo, unitsOf } from '#shared/locales/units.ts'

export interface Figures {
  readonly level: { readonly level: number; readonly icon: string }
  readonly km: number
  readonly checkins: number
  readonly next: {
    readonly level: number
    readonly km_needed: number
    readonly checkins_needed: number
  } | null
  readonly carbonKg: number
  readonly savedKg: number
  /** The buffer was unavailable: pending points are missing. */
  readonly incomplete: boolean
}

export interface Places {
  readonly event: string
  readonly home: string
  /** URL of the pilgrims' app. */
  readonly app: string
  readonly checkin: string
  readonly survey: string
  /** URL of the pilgrim's share page; null for an unknown person, and after a withdrawal. */
  readonly link: string | null
  /** URL of the pilgrim's share card (PNG); null without a link. */
  readonly card: string | null
  readonly surveyCompleted: boolean
}

/** @param figures null if the action needs none, or for an unknown person */
export function replyTo(
  action: BotAction,
  words: BotWords,
  places: Places,
  figures: Figures | null,
): Message[] {
  const answer = answers[action](words, places, figures)
  return [...answer.slice(0, -1), { ...answer.at(-1)!, quickReply: quickReply(words) }]
}

type Answer = (words: BotWords, places: Places, figures: Figures | null) => Message[]

const answers: Readonly<Record<BotAction, Answer>> = {
  checkin: (words, { checkin }) => [
    card({
      title: words.labels.checkin,
      contents: [paragraph(words.checkin)],
      buttons: [button(link(words.labels.checkin, checkin))],
    }),
  ],
  help: (words) => [
    card({
      title: words.labels.help,
      contents: words.help.map(paragraph),
      buttons: [button(postback('checkin', words)), button(postback('level', words), false)],
    }),
  ],
  level: (words, _places, figures) => [figures === null ? text(words.nothingYet) : levelCard(words, figures)],
  carbon: (words, _places, figures) => [
    figures === null ? text(words.nothingYet) : carbonCard(words, figures),
  ],
  card: (words, places, figures) =>
    figures === null || places.card === null || places.link === null
      ? [text(figures === null ? words.nothingYet : words.noLink)]
      : [
          { type: 'image', originalContentUrl: places.card, previewImageUrl: places.card },
          text(`${words.card}\n${places.link}`),
        ],
  share: (words, { event, home, link: own }) => {
    const uri = `https://line.me/R/share?text=${encodeURIComponent(`${words.share(event)} ${own ?? home}`)}`
    return [
      card({
        title: words.labels.share,
        contents: [paragraph(words.share(event))],
        // LINE rejects URIs of more than 1,000 characters.
        buttons: [button(link(words.labels.share, uri.length > 1_000 ? (own ?? home) : uri))],
      }),
    ]
  },
  survey: (words, { survey, surveyCompleted }) => [
    card({
      title: words.labels.survey,
      contents: [paragraph(surveyCompleted ? words.surveyDone : words.survey)],
      buttons: [button(link(words.labels.survey, survey))],
    }),
  ],
  map: (words, { home }) => [linkCard(words.labels.map, words.map(words.followed), words.open, home)],
  report: (words, { app }) => [linkCard(words.labels.report, words.report, words.open, `${app}#feedback`)],
  data: (words, { app }) => [linkCard(words.labels.data, words.data, words.open, `${app}#data`)],
  about: (words, { event, home }) => [
    card({
      title: words.labels.about,
      contents: [paragraph(words.about(event))],
      buttons: [button(link(words.open, home))],
    }),
  ],
}

const linkCard = (title: string, content: string, label: string, uri: string): Message =>
  card({ title, contents: [paragraph(content)], buttons: [button(link(label, uri))] })

const text = (content: string): Message => ({ type: 'text', text: content })

function levelCard(words: BotWords, figures: Figures): Message {
  const { level, km, checkins, next, incomplete } = figures
  return card({
    title: `${level.icon} ${words.levels[level.level - 1]!}`,
    contents: [
      figure(words.level, `${level.level} / 9`),
      figure(words.distance, `${written(km)} ${unitsOf(words.language).km}`),
      figure(words.checkins, words.times(checkins)),
      next === null
        ? paragraph(words.top)
        : figure(
            `${words.next} ${next.level}`,
            words.nextNeeds(kmToGo(next.km_needed, km), next.checkins_needed),
          ),
      ...(incomplete ? [paragraph(words.incomplete)] : checkins === 0 ? [paragraph(words.nothingYet)] : []),
    ],
    buttons: [button(postback('card', words)), button(postback('checkin', words), false)],
  })
}

const carbonCard = (words: BotWords, { carbonKg, savedKg, km, incomplete }: Figures): Message =>
  card({
    title: `🌱 ${words.labels.carbon}`,
    contents: [
      figure(words.distance, `${written(km)} ${unitsOf(words.language).km}`),
      figure(words.emitted, carbonText(words, carbonKg)),
      figure(words.saved, carbonText(words, savedKg)),
      paragraph(words.carbonNote),
      ...(incomplete ? [paragraph(words.incomplete)] : []),
    ],
  })

const carbonText = ({ language }: BotWords, kg: number): string =>
  `${Object.values(carbonIn(language, kg)).join(' ')} CO2e`

export const welcome = (words: BotWords, event: string): Message[] => [
  { ...text(words.welcome(event)), quickReply: quickReply(words) },
]

/** The answer to words of distress: the numbers to call, and the warning that nobody reads the message. */
export function emergency(
  words: BotWords,
  { emergencyNumber, organiserPhone }: Pick<Event, 'emergencyNumber' | 'organiserPhone'>,
): Message[] {
  const messages = words.emergency
  const calls = [
    emergencyNumber === null ? null : link(`📞 ${emergencyNumber}`, telephoneUri(emergencyNumber)),
    organiserPhone === null ? null : link(messages.organisers, telephoneUri(organiserPhone)),
  ].filter((action) => action !== null)
  return [
    {
      ...card({
        title: emergencyNumber === null ? messages.callLocal : messages.call(emergencyNumber),
        contents: [
          ...(organiserPhone === null ? [] : [paragraph(`${messages.organisers} ${organiserPhone}`)]),
          paragraph(messages.automatic),
        ],
        buttons: calls.map((action, i) => button(action, i === 0)),
      }),
      quickReply: quickReply(words),
    },
  ]
}

export const menu = (words: BotWords): Message[] => [
  { ...text(words.unknown), quickReply: quickReply(words) },
]

/** The answer to a photo. @param count all photos of the pilgrim; null: not known yet */
export const photoReply = (words: BotWords, count: number | null): Message[] => [
  { ...text(count === null ? words.photos : words.photo(count)), quickReply: quickReply(words) },
]

/** The answer to a location: a location from LINE is not stored, so it links to the check-in. */
export const locationReply = (words: BotWords, { checkin }: Pick<Places, 'checkin'>): Message[] => [
  {
    ...linkCard(words.labels.checkin, words.location, words.labels.checkin, checkin),
    quickReply: quickReply(words),
  },
]

/** Replaces figures if the bot cannot know the walk that the app records. */
export const otherWalk = (words: BotWords, { app }: Pick<Places, 'app'>): Message[] => [
  { ...linkCard(words.labels.level, words.otherWalk, words.open, app), quickReply: quickReply(words) },
]

/** The answer to a group member whose user id LINE does not send. */
export const personOnly = (words: BotWords): Message[] => [text(words.personOnly)]
