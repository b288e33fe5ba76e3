/**
 * `bun tests/bench/cards.ts [cards]`: draws cards in a row (3,000) as at the end of the event, and fails when the
 * renderer's processes ever hold more than 400 MB. Memory is what the kernel counts (Linux).
 */
import { readFileSync } from 'node:fs'
import { openRenderer } from '#shared/cards/renderer.ts'
import { CARD_SIZE } from '#shared/contracts/cards.ts'
import { cardOf } from '#services/feedback-media/card-design/card.ts'
import { factsOf, trackOf } from './cards/sample.ts'

const LIMIT_BYTES = 400_000_000

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
