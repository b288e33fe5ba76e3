/** The event's page: plain HTML without scripts, with light and dark colours, for all screen widths. */
import { createHash } from 'node:crypto'
import { Language } from '#shared/contracts/bot.ts'
import { escapeMarkup } from '#shared/http/escape-markup.ts'
import { HOME_WORDS, type CheckInPosition } from './home-locales.ts'

const STYLE = `
:root{color-scheme:light dark;--paper:#fdf8ef;--card:#fffdf9;--ink:#3b2a20;--soft:#6f5c4d;--line:#eadfce;--accent:#b3231d;--on:#fff}
@media(prefers-color-scheme:dark){:root{--paper:#1b1411;--card:#271d18;--ink:#f4e9dc;--soft:#c0ab9a;--line:#43332a;--accent:#f08a7c;--on:#2a0f0c}}
*{box-sizing:border-box}
body{margin:0;min-height:100vh;display:flex;flex-direction:column;align-items:center;justify-content:center;gap:1.5rem;padding:1.5rem 1.25rem;background:var(--paper);color:var(--ink);font:1.0625rem/1.65 system-ui,-apple-system,"Noto Sans TC","Noto Sans JP",sans-serif;overflow-wrap:anywhere}
main{width:100%;max-width:34rem;padding:2rem 1.5rem;background:var(--card);border:1px solid var(--line);border-top:.375rem solid var(--accent);border-radius:1rem}
h1{margin:0 0 1rem;font-size:1.75rem;line-height:1.25}
p{margin:.75rem 0 0}
.standing{display:inline-block;margin:0;padding:.2rem .9rem;border-radius:2rem;background:var(--accent);color:var(--on);font-weight:600}
.quiet{color:var(--soft)}
figure{margin:1.5rem 0 0;padding:1rem 1.25rem;border-left:.25rem solid var(--accent);background:var(--paper);border-radius:.5rem}
figure+p{margin-top:1.25rem}
figcaption{color:var(--soft);font-size:.875rem}
blockquote{margin:.25rem 0 0;white-space:pre-line}
.ways{display:flex;flex-wrap:wrap;gap:.75rem;margin-top:1.5rem}
.ways a{flex:1 1 8rem;padding:.75rem 1rem;border-radius:.6rem;background:var(--accent);color:var(--on);font-weight:600;text-align:center;text-decoration:none}
nav{display:flex;flex-wrap:wrap;justify-content:center;gap:.25rem 1.25rem}
nav a{padding:.5rem 0;color:var(--soft)}
nav [aria-current]{color:var(--ink);font-weight:600;text-decoration:none}
a:focus-visible{outline:3px solid var(--ink);outline-offset:3px}`

/** The policy allows the page's own style and nothing else. */
export const HOME_POLICY = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`

export interface Home {
  readonly language: Language
  readonly name: string
  readonly standing: CheckInPosition
  /** The operators' message. */
  readonly message: string | null
  /** When it begins, formatted; null when it has begun, or its start is not set. */
  readonly begins: string | null
  /** Addresses of the event's pages; null when there are none yet. */
  readonly checkinUrl: string | null
  readonly surveyUrl: string | null
}

const paragraph = (text: string, name = ''): string =>
  `<p${name === '' ? '' : ` class="${name}"`}>${escapeMarkup(text)}</p>`

const link = (url: string | null, label: string): string =>
  url === null ? '' : `<a href="${escapeMarkup(url)}">${escapeMarkup(label)}</a>`

const languages = (shown: Language): string =>
  Language.options
    .map((language) => {
      const current = language === shown ? ' aria-current="true"' : ''
      return `<a href="/?lang=${language}" lang="${language}" hreflang="${language}"${current}>${HOME_WORDS[language].language}</a>`
    })
    .join('\n')

export function homePage(home: Home): string {
  const { language, name, standing, message, begins, checkinUrl, surveyUrl } = home
  const words = HOME_WORDS[language]
  const note =
    message === null
      ? paragraph(words.sentence[standing])
      : `<figure><figcaption>${escapeMarkup(words.message)}</figcaption><blockquote>${escapeMarkup(message)}</blockquote></figure>`
  const links = link(checkinUrl, words.checkin) + link(surveyUrl, words.survey)
  const complete = checkinUrl !== null && surveyUrl !== null
  return `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeMarkup(name)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${escapeMarkup(name)}</h1>
${paragraph(words.standing[standing], 'standing')}
${begins === null ? '' : paragraph(words.begins(begins))}
${note}
${paragraph(words.about)}
${links === '' ? '' : `<div class="ways">${links}</div>`}
${complete || standing === 'ended' ? '' : paragraph(words.looking, 'quiet')}
</main>
<nav>
${languages(language)}
</nav>
</body>
</html>
`
}
