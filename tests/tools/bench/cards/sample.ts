/** Cards of pilgrims with names in many scripts. */
import { LEVELS } from '#shared/core/rules/levels.ts'
import type { CardFacts, CardRoute } from '#services/feedback-media/cards/card-facts.ts'

const SCRIPTS = ['一', 'あ', '가', 'ก', 'a', 'Α', 'Б'].map((first) => first.codePointAt(0)!)

/** A name of eight letters of one script, different for each card. */
const nameOf = (i: number): string =>
  Array.from({ length: 8 }, (_, k) =>
    String.fromCodePoint(SCRIPTS[i % SCRIPTS.length]! + ((i * 7 + k * 13) % (i % 7 === 0 ? 6_000 : 24))),
  ).join('')

/** The facts of a card, different for each number. */
export const factsOf = (i: number): CardFacts => {
  const level = LEVELS[i % 9]!
  return {
    eventName: '白沙屯媽祖徒步進香 2026',
    eventDays: null,
    displayName: nameOf(i),
    language: 'zh-Hant',
    pilgrimWord: '香客',
    level,
    levelName: level.zh,
    km: i / 10,
    checkins: i % 50,
    carbonSavedKg: i / 20,
    unlocked: true,
  }
}

/** A route of 1,200 places with twenty stations, half of it passed. */
export function routeOf(i: number): CardRoute {
  const line = Array.from({ length: 1_200 }, (_, k) => ({
    lat: 24.5 - k * 0.0009 + Math.sin(k / (9 + (i % 5))) * 0.006,
    lng: 120.7 + Math.sin(k / 60) * 0.07,
  }))
  const stations = line.filter((_, k) => k % 60 === 0).map((place, k) => ({ ...place, isPassed: k <= 10 }))
  return { lines: [line], stations, passed: [line.slice(0, 601)] }
}
