/**
 * `bun tests/bench/cards.ts [cards]`: draws cards in a row (3,000) as at the end of the event, and fails when the
 * renderer's processes ever hold more than 400 MB. Memory is what the kernel counts (Linux).
 */
import { readFileSync } from 'node:fs'
import { openRenderer } from '#shared/cards/renderer.ts'
import { CARD_SIZE } from '#shared/contracts/cards.ts'
import { LEVELS } from '#shared/rules/levels.ts'
import { cardOf } from '#services/feedback-media/cards/card.ts'
import type { CardFacts, Fix } from '#services/feedback-media/cards/card-facts.ts'

const LIMIT_BYTES = 400_000_000
const SCRIPTS = ['一', 'あ', '가', 'ก', 'a', 'Α', 'Б'].map((first) => first.codePointAt(0)!)

/** A name of eight letters of one script, another one for each card. */
const nameOf = (i: number): string =>
  Array.from({ length: 8 }, (_, k) =>
    String.fromCodePoint(SCRIPTS[i % SCRIPTS.length]! + ((i * 7 + k * 13) % (i % 7 === 0 ? 6_000 : 24))),
  ).join('')

const factsOf = (i: number): CardFacts => {
  const level = LEVELS[i % 9]!
  return {
    eventName: '白沙屯媽祖徒步進香 2026',
    displayName: nameOf(i),
    language: 'zh-TW',
    level,
    next: LEVELS[level.level] ?? null,
    km: i / 10,
    checkins: i % 50,
    carbonSavedKg: i / 20,
    progress: (i % 100) / 100,
    kmNeeded: 3.2,
    checkinsNeeded: 1,
    unlocked: true,
  }
}

const trackOf = (i: number): Fix[] =>
  Array.from({ length: 1_200 }, (_, k) => ({
    lat: 24.5 - k * 0.0009 + Math.sin(k / (9 + (i % 5))) * 0.006,
    lng: 120.7 + Math.sin(k / 60) * 0.07,
  }))

const residentBytes = (pid: number): number => {
  try {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1_024
  } catch {
    return 0
  }
}

const cards = Number(process.argv[2] ?? 3_000)
const renderer = openRenderer()
const children = new Set<number>()
let peak = 0
let bytes = 0
const looking = setInterval(() => {
  if (renderer.childPid === null) return
  children.add(renderer.childPid)
  peak = Math.max(peak, residentBytes(renderer.childPid))
}, 20)
const started = performance.now()
for (let i = 0; i < cards; i++)
  bytes += (await renderer.renderPng(cardOf(factsOf(i), trackOf(i)), CARD_SIZE)).length
const seconds = (performance.now() - started) / 1_000
clearInterval(looking)
await renderer.close()
console.log(
  JSON.stringify({
    cards,
    cards_per_s: Math.round((cards / seconds) * 10) / 10,
    renderer_peak_mb: Math.round(peak / 1e6),
    limit_mb: LIMIT_BYTES / 1e6,
    processes: children.size,
    own_mb: Math.round(process.memoryUsage.rss() / 1e6),
    mean_card_kb: Math.round(bytes / cards / 1_000),
  }),
)
process.exitCode = peak > 0 && peak <= LIMIT_BYTES ? 0 : 1
