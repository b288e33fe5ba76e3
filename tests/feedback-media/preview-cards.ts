/**
 * `bun run cards:preview [folder]`: draws samples of every card, a page, and a contact sheet. All pilgrims are
 * invented.
 */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { box, type Element } from '#shared/runtime/picture-renderer/element.ts'
import { openRenderer } from '#shared/runtime/picture-renderer/renderer.ts'
import { environment, readConfig } from '#shared/runtime/config/config.ts'
import { CARD_SIZE } from '#shared/contracts/cards.ts'
import { readCommandLine } from '#shared/runtime/command-line.ts'
import { type Level, LEVELS } from '#shared/core/rules/levels.ts'
import { BuiltInLanguage } from '#shared/contracts/bot.ts'
import { serviceWords } from '#shared/locales/by-language.ts'
import { languageFor } from '#shared/core/rules/languages.ts'
import {
  type CardFacts,
  type CardRoute,
  type Place,
  pilgrimWord,
} from '#services/feedback-media/cards/card-facts.ts'
import { cardOf } from '#services/feedback-media/cards/card-layout.ts'

interface Sample {
  readonly title: string
  readonly facts: CardFacts
  /** Null: the event has no route. */
  readonly route: CardRoute | null
}

/** A winding road down a coast, the same in each run. */
const COAST: readonly Place[] = Array.from({ length: 600 }, (_, i) => ({
  lat: 24.57 - i * 0.0018 + Math.sin(i / 9) * 0.006,
  lng: 120.71 - i * 0.0007 + Math.sin(i / 60) * 0.07 + Math.sin(i / 13) * 0.012,
}))

const STATION_EVERY = 40

/** The road with its stations, and the stretch between those of the first kilometres. */
function passedAt(km: number): CardRoute {
  const reached = Math.floor((COAST.length * Math.min(km, 300)) / 300 / STATION_EVERY) * STATION_EVERY
  const stations = COAST.flatMap((place, i) =>
    i % STATION_EVERY === 0 ? [{ ...place, isPassed: reached > 0 && i <= reached }] : [],
  )
  return { lines: [COAST], stations, passed: reached === 0 ? [] : [COAST.slice(0, reached + 1)] }
}

function factsOf(level: Level, displayName: string | null, unlocked: boolean, language = 'zh-TW'): CardFacts {
  const next = LEVELS[level.level] ?? null
  const spoken = languageFor([language], 'zh-Hant', BuiltInLanguage.options)
  const km = level.minKm + (next === null ? 1.25 : (next.minKm - level.minKm) * 0.62)
  return {
    eventName: '白沙屯媽祖徒步進香',
    eventDays: '2026.4.12–4.20',
    displayName,
    language: spoken,
    pilgrimWord: pilgrimWord(language),
    level,
    levelName: serviceWords({})(spoken).levels[level.level - 1]!,
    km: Math.round(km * 100) / 100,
    checkins: level.minCheckins + 2,
    carbonSavedKg: Math.round(km * 475) / 1_000,
    unlocked,
  }
}

const NAMES: readonly (readonly [script: string, name: string | null, language: string])[] = [
  ['Chinese', '林美玉', 'zh-TW'],
  ['Chinese, simplified', '欧阳谆骊 铖铠', 'zh-CN'],
  ['Japanese', '渡邊 さくら・ケンジ', 'ja'],
  ['Korean', '김하늘 순례자', 'ko'],
  ['Thai', 'ณัฐวุฒิ ศรีสุวรรณ์ ผู้ยิ่งใหญ่', 'th'],
  ['Latin with accents', 'Nguyễn Thị Ánh · Žofie Ångström-Łęcka', 'vi'],
  ['Emoji', '小明 👨‍👩‍👧‍👦🇹🇼❤️🐢 1️⃣', 'zh-TW'],
  ['Marks that no font has', 'Bí-gio̍k N̂g a̍ o͘ ṳ̂', 'zh-TW'],
  ['Newer emoji', '阿明🫩🫪🪾 🫷🏻🫸🏿', 'zh-TW'],
  ['Fancy letters', '𝓐𝓵𝓲𝓬𝓮 ✿ ★ ♥', 'en'],
  ['Greek and Cyrillic', 'Γιώργος Дмитрий', 'en'],
  ['Right to left: the word for pilgrim', 'محمد عبد الله', 'ar'],
  ['A script without a font', 'ሰላም ወንድም', 'en'],
  ['No name', null, 'ja'],
  ['60 Chinese characters', '進香'.repeat(30), 'zh-TW'],
  ['60 Latin letters', 'Maximiliane Alexandra Konstantina von und zu Hohenlohe-Langen', 'de'],
  ['60 wide letters', 'W'.repeat(60), 'en'],
  ['60 emoji', '🐢'.repeat(60), 'zh-TW'],
]

function samples(): Sample[] {
  const levels = LEVELS.flatMap((level) =>
    [false, true].map((unlocked) => ({
      title: `level-${level.level}-${unlocked ? 'unlocked' : 'locked'}`,
      facts: factsOf(level, '林美玉 🌸', unlocked),
      route: passedAt(factsOf(level, null, unlocked).km),
    })),
  )
  const names = NAMES.map(([script, name, language], i) => ({
    title: `name-${i + 1}-${script.toLowerCase().replaceAll(/[^a-z]+/g, '-')}`,
    facts: factsOf(LEVELS[(i * 4) % 9]!, name, i % 2 === 1, language),
    route: passedAt(300),
  }))
  const fresh = {
    ...factsOf(LEVELS[0]!, '林美玉', false),
    km: 0,
    checkins: 0,
    carbonSavedKg: 0,
  }
  const far = {
    ...factsOf(LEVELS[8]!, '林美玉', true),
    km: 12_345.67,
    checkins: 1_204,
    carbonSavedKg: 5_866.042,
  }
  return [
    ...levels,
    ...names,
    { title: 'no-points-yet', facts: fresh, route: passedAt(0) },
    { title: 'unlocked-without-points', facts: { ...fresh, checkins: 3, unlocked: true }, route: null },
    { title: 'large-figures', facts: far, route: passedAt(300) },
    {
      title: 'a-long-event-name',
      facts: { ...fresh, eventName: 'The Great Island Circumambulation of All Temples and Shrines 2026' },
      route: passedAt(300),
    },
  ]
}

const SHEET_COLUMNS = 4
const THUMB = { width: 480, height: 252 }

function sheetOf(thumbs: readonly string[]): { element: Element; width: number; height: number } {
  const gap = 12
  const width = SHEET_COLUMNS * (THUMB.width + gap) + gap
  const height = Math.ceil(thumbs.length / SHEET_COLUMNS) * (THUMB.height + gap) + gap
  const element = box(
    {
      width,
      height,
      flexWrap: 'wrap',
      alignContent: 'flex-start',
      gap,
      padding: gap,
      backgroundColor: '#e9e4d8',
    },
    ...thumbs.map((src): Element => ({ type: 'img', props: { src, ...THUMB } })),
  )
  return { element, width, height }
}

const pageOf = (
  titles: readonly string[],
): string => `<!doctype html><meta charset="utf-8"><title>Share cards</title>
<style>body{background:#e9e4d8;font:16px sans-serif;margin:24px}figure{display:inline-block;margin:12px}img{width:600px;display:block}</style>
${titles.map((title) => `<figure><img src="${encodeURIComponent(title)}.png" alt=""><figcaption>${title}</figcaption></figure>`).join('\n')}
`

/** Writes all pictures into a folder. */
async function writePreview(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  const renderer = openRenderer({ timeoutMs: 60_000 })
  const thumbs: string[] = []
  const all = samples()
  try {
    for (const { title, facts, route } of all) {
      const png = await renderer.renderPng(cardOf(facts, route), CARD_SIZE)
      await Bun.write(join(folder, `${title}.png`), png)
      const thumb = await new Bun.Image(png).resize(THUMB.width, THUMB.height).png().bytes()
      thumbs.push(`data:image/png;base64,${Buffer.from(thumb).toString('base64')}`)
    }
    const { element, ...size } = sheetOf(thumbs)
    await Bun.write(join(folder, 'contact-sheet.png'), await renderer.renderPng(element, size))
    await Bun.write(join(folder, 'index.html'), pageOf(all.map(({ title }) => title)))
  } finally {
    await renderer.close()
  }
}

const USAGE = `Draws a sample of every share card: nine levels, locked and unlocked, names in many scripts.

  bun run cards:preview [folder]

  folder   target (default: cards-preview in the data directory) for index.html, contact-sheet.png and each card
  --help   shows this text`

if (import.meta.main) {
  const { positionals } = readCommandLine(USAGE, {}, 1)
  const folder = positionals[0] ?? join(readConfig(environment()).dataDir, 'cards-preview')
  await writePreview(folder)
  process.stdout.write(`The cards are in ${folder}: index.html, contact-sheet.png, and one file per card.\n`)
}
