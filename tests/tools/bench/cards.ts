/** Draws many cards, as at the end of the event, and measures the memory of the renderer's processes (Linux). */
import { readFileSync } from 'node:fs'
import { openRenderer } from '#shared/runtime/picture-renderer/renderer.ts'
import { CARD_SIZE } from '#shared/contracts/cards.ts'
import { readCommandLine } from '#shared/runtime/command-line.ts'
import { cardOf } from '#services/feedback-media/cards/card-layout.ts'
import { factsOf, routeOf } from './cards/sample.ts'

const LIMIT_BYTES = 400_000_000

const residentBytes = (pid: number): number => {
  try {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1_024
  } catch {
    return 0
  }
}

const USAGE = `Draws cards one after the other, and prints speed and memory as JSON. Linux only.

  bun tests/tools/bench/cards.ts [cards]

  cards    how many (default: 3000)
  --help   print this text

Exit codes: 0 the renderer stayed below 400 MB, 1 it did not, 2 wrong command line.`

const { positionals } = readCommandLine(USAGE, {}, 1)
const cards = Number(positionals[0] ?? 3_000)
const renderer = openRenderer()
const children = new Set<number>()
let peak = 0
let bytes = 0
const sampling = setInterval(() => {
  if (renderer.childPid === null) return
  children.add(renderer.childPid)
  peak = Math.max(peak, residentBytes(renderer.childPid))
}, 20)
const started = performance.now()
for (let i = 0; i < cards; i++)
  bytes += (await renderer.renderPng(cardOf(factsOf(i), routeOf(i)), CARD_SIZE)).length
const seconds = (performance.now() - started) / 1_000
clearInterval(sampling)
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
