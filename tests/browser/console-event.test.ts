/** An owner sets up the event in the console, and the public map follows. */
import { expect, test } from 'bun:test'
import { strFromU8, unzipSync } from 'fflate'
import { until } from '#tests/helpers/wait.ts'
import { decodeQR } from 'qr/decode.js'
import { conditionEndpoint } from '#shared/contracts/supervision.ts'
import { dataOf } from '#tests/helpers/answers.ts'
import { admin, callAs, checkIn, newAppId, readAs } from '#tests/helpers/test-stack.ts'
import { known } from './walk-harness.ts'
import { photograph } from './browser.ts'
import { FOLLOWS_MS, pagesOf } from './console-harness.ts'

// These owners act faster than people, who have 30 calls a minute.
const event = pagesOf({ EVENT_TIMEZONE: 'Europe/Amsterdam', EVENT_LIMIT_ADMIN: '300' })

test('an installation without an event is not started, until an owner names it; a stale form is refused', async () => {
  await using map = await event.open({ path: '/?lang=en' })
  await map.page.locator('.badge', { hasText: 'Not started' }).waitFor()
  await using opened = await event.console()
  const { page } = opened
  await page.locator('.top-bar .badge', { hasText: 'Not started' }).waitFor()
  const checklist = page.locator('.checklist')
  await checklist.waitFor()
  await photograph(page, 'console-not-started')
  // A postponed row is hidden on Now, but stays in the view Event.
  const line = checklist.locator('li', { hasText: 'LINE' })
  await line.getByRole('button', { name: 'Later' }).click()
  await line.waitFor({ state: 'detached' })
  await checklist.locator('li', { hasText: 'Dates' }).getByRole('button', { name: 'Set' }).click()
  await line.waitFor()

  await using other = await event.console({ view: 'lifecycle', expected: /409/ })
  const form = other.page.locator('.event-name form')
  await form.getByText('Times are those of Europe/Amsterdam').waitFor()
  await form.getByLabel('English').fill('Four Days')

  await page.locator('.event-name').getByLabel('English').fill('Nijmegen Four Days')
  await page.getByLabel('Begins').fill('2026-07-21T04:00')
  await page.getByLabel('Ends').fill('2026-07-24T18:00')
  await page.locator('.event-name').getByRole('button', { name: 'Save' }).click()
  await page.locator('.event-name', { hasText: 'owner' }).waitFor()
  await checklist.locator('li', { hasText: 'Dates' }).getByText('done').waitFor()
  // Default values can be confirmed unchanged.
  await page.locator('.event-contact').getByRole('button', { name: 'Save' }).click()
  await checklist.locator('li', { hasText: 'Help numbers' }).getByText('done').waitFor()
  await page.locator('.top-bar', { hasText: 'Nijmegen Four Days' }).waitFor()

  await photograph(page, 'console-event')
  await form.getByRole('button', { name: 'Save' }).click()
  await other.page.locator('.toast', { hasText: 'Changed meanwhile by owner' }).waitFor()
  await form.getByText('Changed meanwhile to: Nijmegen Four Days').waitFor()
  expect(await form.getByLabel('English').inputValue()).toBe('Four Days')
  await form.getByRole('button', { name: 'Save' }).click()
  await page.locator('.top-bar', { hasText: /^Four Days/ }).waitFor()
  await map.page.getByRole('heading', { name: 'Four Days' }).first().waitFor({ timeout: FOLLOWS_MS })

  // A reader of a language that is no longer offered gets English without reloading the page.
  await using reader = await event.open({ path: '/', locale: 'ja-JP' })
  await reader.page.locator('html[lang=ja]').waitFor()
  await page.locator('.event-languages input[name=ja]').uncheck()
  await page.locator('.event-languages').getByRole('button', { name: 'Save' }).click()
  await reader.page.locator('html[lang=en]').waitFor({ timeout: FOLLOWS_MS })
})

test('an owner names the levels and what is followed: app and map follow, and a walk has no palanquin', async () => {
  await using map = await event.open({ path: '/?lang=en' })
  await map.page.getByRole('application', { name: 'Map of the procession' }).waitFor()
  await using opened = await event.console({ view: 'lifecycle' })
  const { page } = opened
  const panel = page.locator('.event-words')
  await panel.getByLabel('What people follow').selectOption('A walk')
  await panel.locator('input[name=level-1-en]').fill('Stroller')
  await photograph(page, 'console-words')
  await panel.getByRole('button', { name: 'Save' }).click()
  await panel.getByText('owner').waitFor()
  await map.page.getByRole('application', { name: 'Map of the walk' }).waitFor({ timeout: FOLLOWS_MS })
  await photograph(map.page, 'map-of-a-walk')

  await using app = await event.open({ path: '/walk/?lang=en', viewport: { width: 390, height: 844 } })
  await app.page.getByLabel('Your name').fill('Lin')
  await app.page.getByRole('button', { name: 'I agree' }).click()
  await app.page.getByText('Stroller').waitFor()
  await app.page.getByRole('link', { name: 'Where is the walk?' }).waitFor()
  await photograph(app.page, 'walk-own-level')
  await page.goto(new URL('/admin/?lang=en#/people', page.url()).href)
  await page
    .getByRole('link', { name: 'Lin' })
    .or(page.getByRole('button', { name: 'Lin' }))
    .first()
    .click()
  await page.getByText('Level 1 · Stroller').waitFor()
  expect(await page.getByText('Palanquin').count()).toBe(0)
})

test('the table of words comes back translated: app, map and link are in Dutch, the app also without a network', async () => {
  await using opened = await event.console({ view: 'lifecycle', expected: /400/ })
  const { page } = opened
  const panel = page.locator('.event-translation')
  await panel.getByLabel('Language code').fill('nl')
  const downloading = page.waitForEvent('download')
  await panel.getByRole('button', { name: 'Save the table (CSV)' }).click()
  const table = await Bun.file(await (await downloading).path()).text()
  const translated: Readonly<Record<string, string>> = {
    'walk.welcome.title': 'Welkom bij {event}',
    'walk.welcome.agree': 'Akkoord',
    'walk.welcome.newConsent': 'De privacyverklaring is veranderd.',
    'walk.welcome.consent.0': 'De organisatie krijgt je plaats.',
    'walk.checkIn.button': 'Meld je hier',
    'map.nobody': 'Nog niemand op de kaart.',
    'share.goneTitle': 'Deze link toont niets',
    'walk.back': '-terug',
    'map.near': 'bij',
  }
  // As a spreadsheet with semicolons saves it.
  const keys = [...table.matchAll(/^([\w-]+\.[\w.-]+),/gm)].map(([, key]) => key!)
  expect(keys.length).toBeGreaterThan(500)
  const rows = keys.map((key) => `${key};${translated[key] ?? ''}`)
  const upload = (name: string, content: string | Uint8Array) =>
    panel
      .locator('input[type=file]')
      .setInputFiles({ name, mimeType: 'text/csv', buffer: Buffer.from(content as string) })
  for (const [content, sentence] of [
    [Buffer.from('key,text:nl\r\nwalk.back,T\xe9rug', 'latin1'), 'The file is not in UTF-8'],
    ['name,age\r\nLin,80', 'This is not the table'],
    ['key;text:nl\r\nwalk.back;', 'No text of the table is translated yet'],
    ['key,text:xq\r\nwalk.back,x', 'no language has the tag xq'],
  ] as const) {
    await upload('words.csv', content)
    await panel.getByText(sentence).waitFor()
  }
  await upload(
    'words.csv',
    ['sep=;', 'Key;text:nl', ...rows, 'walk.back;twee', 'map.x;niets', ''].join('\r\n'),
  )
  await panel.getByText('8 texts stored. 3 rows are left out').waitFor()
  await panel.getByText(/^Row \d+: The text lacks \{station\}/).waitFor()
  await panel.getByText(/^Row \d+: The key is in the table twice/).waitFor()
  await panel.getByText(/^Row \d+: This release does not have this key/).waitFor()
  await panel.getByText('Nederlands: 8 texts translated').waitFor()
  await photograph(page, 'console-translation')

  await using app = await event.open({
    path: '/walk/',
    locale: 'nl-NL',
    expected: /ERR_INTERNET_DISCONNECTED/,
  })
  const walk = app.page
  await walk.locator('html[lang=nl]').waitFor()
  await walk.getByRole('heading', { name: 'Welkom bij' }).waitFor()
  // What is not translated.
  await walk.getByLabel('Your name').fill('Lin')
  await walk.getByRole('button', { name: 'Akkoord', exact: true }).click()
  await walk.getByRole('button', { name: 'Meld je hier' }).waitFor()
  await known(walk)
  await photograph(walk, 'walk-in-dutch')
  await walk.evaluate(() => navigator.serviceWorker.ready)
  await walk.waitForFunction(() => navigator.serviceWorker.controller !== null)
  await walk.context().setOffline(true)
  await walk.reload()
  await walk.getByRole('button', { name: 'Meld je hier' }).waitFor()
  await walk.context().setOffline(false)

  // Who agreed to the notice in Dutch is asked again when it changes.
  await walk.reload()
  await walk.getByRole('button', { name: 'Meld je hier' }).waitFor()
  expect(await walk.getByText('De privacyverklaring is veranderd.').count()).toBe(0)
  const asked: typeof translated = {
    ...translated,
    'walk.welcome.consent.0': 'Ook sponsors krijgen je plaats.',
  }
  await upload(
    'words.csv',
    ['Key;text:nl', ...keys.map((key) => `${key};${asked[key] ?? ''}`), ''].join('\r\n'),
  )
  await panel.getByText('8 texts stored. 1 row is left out').waitFor()
  await walk.reload()
  await walk.getByText('De privacyverklaring is veranderd.').waitFor()
  await walk.getByText('Ook sponsors krijgen je plaats.').waitFor()
  await walk.getByRole('button', { name: 'Akkoord', exact: true }).click()
  await walk.getByText('De privacyverklaring is veranderd.').waitFor({ state: 'detached' })

  await using map = await event.open({ path: '/', locale: 'nl-BE' })
  await map.page.getByText('Nog niemand op de kaart.').first().waitFor({ timeout: FOLLOWS_MS })
  await using link = await event.open({ path: `/s/${'x'.repeat(24)}`, locale: 'nl', expected: /410/ })
  await link.page.getByRole('heading', { name: 'Deze link toont niets' }).waitFor()
  await panel.getByRole('button', { name: 'Remove Nederlands' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove Nederlands' }).click()
  await map.page.locator('html[lang=en]').waitFor({ timeout: FOLLOWS_MS })
})

test('a pilgrim who agreed is asked again when an owner changes the privacy notice, and reads it whole', async () => {
  await using app = await event.open({ path: '/walk/?lang=en', viewport: { width: 390, height: 844 } })
  await app.page.getByText('until you or the organisers delete it').waitFor()
  await app.page.getByLabel('Your name').fill('Mei')
  await app.page.getByRole('button', { name: 'I agree' }).click()
  await using opened = await event.console({ view: 'lifecycle' })
  const panel = opened.page.locator('.event-notice')
  await panel.getByLabel('Organiser').fill('Stichting De Wandeling')
  await panel.getByLabel('Contact').fill('avg@walk.example')
  await panel.getByLabel('All data deleted by').fill('2099-12-31T00:00')
  await panel.getByLabel('Your own text: English').fill('Article 13 of the GDPR:\nyou may complain.')
  await photograph(opened.page, 'console-notice')
  await panel.getByRole('button', { name: 'Save' }).click()
  await panel.getByText('owner').waitFor()
  await opened.page.locator('.checklist li', { hasText: 'Privacy notice' }).getByText('done').waitFor()

  await app.page.reload()
  await app.page.getByText('The privacy notice has changed.').waitFor()
  await app.page.getByText('Organiser: Stichting De Wandeling').waitFor()
  await app.page.getByText('by December 31, 2099').waitFor()
  await app.page.getByText('Read the organisers’ whole notice').click()
  await app.page.getByText('you may complain.').waitFor()
  await photograph(app.page, 'walk-own-notice', true)
  await app.page.getByRole('button', { name: 'I agree', exact: true }).click()
  await app.page.getByText('The privacy notice has changed.').waitFor({ state: 'detached' })
})

test('the app asks the questions that an owner has set, and the report names them', async () => {
  await using opened = await event.console({ view: 'lifecycle' })
  const panel = opened.page.locator('.event-survey')
  await panel.locator('summary', { hasText: 'Q1' }).first().click()
  const first = panel.locator('details').first()
  await first.getByLabel('Answered by').selectOption('A number')
  await first.getByLabel('Question: English').fill('How many days do you walk?')
  await panel.locator('summary', { hasText: 'Q2' }).click()
  const second = panel.locator('details').nth(1)
  await second.getByRole('button', { name: 'Add a choice' }).click()
  await second.locator('li:last-child input[name=choice-en]').fill('With my dog')
  await photograph(opened.page, 'console-survey')
  await panel.getByRole('button', { name: 'Save' }).click()
  await panel.getByText('owner').waitFor()

  await using app = await event.open({ path: '/walk/?lang=en', viewport: { width: 390, height: 844 } })
  const { page } = app
  await page.getByLabel('Your name').fill('Mei')
  await page.getByRole('button', { name: 'I agree' }).click()
  await page.getByRole('button', { name: 'I agree' }).waitFor({ state: 'detached' })
  await page.evaluate(() => (location.hash = 'survey'))
  await page.getByLabel('How many days do you walk?').fill('4')
  await photograph(page, 'walk-own-survey')
  await page.getByRole('button', { name: 'Next' }).click()
  await page.getByLabel('With my dog').check()
  for (let i = 2; i < 10; i++) await page.getByRole('button', { name: 'Next' }).click()
  await page.getByRole('button', { name: 'Send the answers' }).click()
  await page.getByText('Your answers have arrived').waitFor()
  await using report = await event.console({ view: 'reports' })
  const questions = report.page.locator('.questions')
  await questions
    .locator('section', { hasText: 'How many days do you walk?' })
    .getByText('4')
    .first()
    .waitFor()
  await questions.getByText('With my dog').waitFor()
})

test('a message that names the event is shown as a phone shows it, before it is saved', async () => {
  await using opened = await event.console({ view: 'lifecycle' })
  const panel = opened.page.locator('.event-messages')
  const bubble = panel.locator('.bubble').first()
  await bubble.getByText('Welcome to').waitFor()
  await panel.getByLabel('Welcome of the bot').fill('Join {event} today!')
  await bubble.getByText(/Join (?!\{event\}).+ today!/).waitFor()
  await photograph(opened.page, 'console-messages')
  await panel.getByRole('button', { name: 'Save' }).click()
  await panel.getByText('owner').waitFor()
})

test('the poster has the event’s name, and its codes lead to the app and to the map', async () => {
  await using opened = await event.console({ view: 'lifecycle' })
  const { page } = opened
  const panel = page.locator('.event-poster')
  const poster = panel.locator('img.poster')
  await poster.waitFor()
  await photograph(page, 'console-poster')
  const saved = async (button: string) => {
    const download = page.waitForEvent('download')
    await panel.getByRole('button', { name: button }).click()
    const file = await download
    return { name: file.suggestedFilename(), bytes: await Bun.file(await file.path()).bytes() }
  }
  const pdf = await saved('Save as PDF')
  expect(pdf.name).toMatch(/^poster-en-.*\.pdf$/)
  const text = new TextDecoder('latin1').decode(pdf.bytes)
  expect(text.startsWith('%PDF-1.4')).toBe(true)
  // PDF readers find the objects through the cross-reference table.
  const table = Number(/startxref\n(\d+)/.exec(text)![1])
  const offsets = [...text.slice(table).matchAll(/^(\d{10}) 00000 n/gm)].map(([, offset]) => Number(offset))
  expect(offsets.map((offset) => text.slice(offset, offset + 7))).toEqual(
    [1, 2, 3, 4, 5].map((number) => `${number} 0 obj`),
  )
  const png = await saved('Save as PNG')
  expect(new TextDecoder().decode(png.bytes.slice(1, 4))).toBe('PNG')

  /** The QR code in one half of the poster. */
  const codeIn = async (half: 0 | 1) => {
    const size = { width: 700, height: 1_980 }
    const dark = await poster.evaluate(
      async (image: HTMLImageElement, { width, height, half }) => {
        const context = new OffscreenCanvas(width, height).getContext('2d')!
        const wide = image.naturalWidth / 2
        context.drawImage(image, wide * half, 0, wide, image.naturalHeight, 0, 0, width, height)
        const { data } = context.getImageData(0, 0, width, height)
        return Array.from({ length: width * height }, (_, i) => (data[i * 4]! < 128 ? '1' : '0')).join('')
      },
      { ...size, half },
    )
    const data = Uint8Array.from({ length: dark.length * 4 }, (_, i) =>
      i % 4 < 3 && dark[i >> 2] === '1' ? 0 : 255,
    )
    return decodeQR({ ...size, data })
  }
  const { origin } = new URL(page.url())
  expect(await codeIn(0)).toBe(`${origin}/walk/`)
  expect(await codeIn(1)).toBe(`${origin}/`)
})

test('an archive holds reports and settings, with which another event begins; other files are refused', async () => {
  const owner = { 'Content-Type': 'application/json', ...admin('owner') }
  const route = {
    lines: [[5_200_000, 580_000, 10_000, 0]],
    stations: [],
    margin_km: null,
    version: 1_000_000,
  }
  const put = (part: string, body: object) =>
    event.stack.fetch(`/api/event/admin/settings/${part}`, {
      method: 'PUT',
      headers: owner,
      body: JSON.stringify(body),
    })
  const names = (en: string) => ({ names: { en }, starts_at: null, ends_at: null, version: 1_000_000 })
  expect((await put('route', route)).status).toBe(200)
  expect((await put('name', names('First'))).status).toBe(200)
  await using opened = await event.console({ view: 'lifecycle', expected: /400/ })
  const { page } = opened
  const panel = page.locator('.event-archive')
  const download = page.waitForEvent('download')
  await panel.getByRole('button', { name: 'Save the archive' }).click()
  const saved = await download
  expect(saved.suggestedFilename()).toMatch(/^archive-\d{4}-\d\d-\d\d-.*\.zip$/)
  const files = unzipSync(await Bun.file(await saved.path()).bytes())
  // No map picture, because it would show where a person was: there are no points.
  expect(Object.keys(files).toSorted()).toEqual([
    'carbon.csv',
    'private/surveys.csv',
    'settings.json',
    'summary.csv',
    'survey-codes.csv',
    'timeline-by-day.csv',
    'timeline-by-hour.csv',
  ])
  expect(strFromU8(files['private/surveys.csv']!)).toContain('userId')
  expect(strFromU8(files['summary.csv']!)).toContain('kg')

  // Another event, with another name and without a route.
  expect((await put('route', { ...route, lines: [] })).status).toBe(200)
  expect((await put('name', names('Next'))).status).toBe(200)
  await page.reload()
  const choose = (name: string, content: string | Uint8Array) =>
    panel.locator('input[name=settings-file]').setInputFiles({
      name,
      mimeType: 'application/octet-stream',
      buffer: Buffer.from(content),
    })
  await choose('route.json', '{"type":"FeatureCollection","features":[]}')
  await panel.getByText('This file holds no settings of an event').waitFor()
  await choose('archive.zip', await Bun.file(await saved.path()).bytes())
  await panel.getByLabel('Help numbers').uncheck()
  await photograph(page, 'console-archive')
  await panel.getByRole('button', { name: 'Take over' }).click()
  // Eight parts, one after the other.
  await page.locator('.toast', { hasText: 'Taken over' }).waitFor({ timeout: FOLLOWS_MS })
  await page.locator('.event-route', { hasText: '11 km' }).waitFor()
  await page.locator('.top-bar', { hasText: 'First' }).waitFor()

  // A rejected part is named, and nothing of it is stored.
  const parts = {
    name: { names: {} },
    contact: { emergency_number: '112', organiser_phone: '+31 24 365 5500' },
  }
  await choose('settings.json', JSON.stringify({ event_settings: 1, time_zone: 'Asia/Taipei', parts }))
  await panel.getByText('time zone Asia/Taipei').waitFor()
  await panel.getByRole('button', { name: 'Take over' }).click()
  await panel.getByText(/Name and dates: .*names/).waitFor()
  const phone = page.locator('.event-contact').getByLabel('Organisers’ phone')
  await until(async () => (await phone.inputValue()) === '+31 24 365 5500', 'the numbers to be taken over')

  // With points, another route would falsify them.
  expect((await checkIn(event.stack, newAppId())).status).toBe(202)
  const received = async () => {
    const condition = await dataOf(await readAs(event.stack, 'owner', 'admin/condition'), conditionEndpoint)
    return (condition.ledger?.received ?? 0) > 0
  }
  await until(received, 'the point to be counted', { everyMs: 1_000 })
  await using later = await event.console({ view: 'lifecycle' })
  const again = later.page.locator('.event-archive')
  await again.locator('input[name=settings-file]').setInputFiles(await saved.path())
  await again.getByText('This installation has points already').waitFor()
  expect(await again.locator('input[name=import-route]').isDisabled()).toBe(true)
})

test('in a rehearsal every page names it, and the console has a bar until an owner ends it', async () => {
  await using map = await event.open({ path: '/?lang=ja', viewport: { width: 390, height: 844 } })
  await using opened = await event.console({ view: 'lifecycle' })
  const { page } = opened
  await page.getByRole('button', { name: 'Begin a rehearsal' }).click()
  const bar = page.locator('.bar-across', { hasText: 'what you see is not the event' })
  await bar.waitFor()
  await page.locator('.event-rehearsal', { hasText: '--own-route' }).waitFor()
  await photograph(page, 'console-rehearsal')
  await map.page.getByRole('heading', { name: 'リハーサル：' }).first().waitFor({ timeout: FOLLOWS_MS })
  await map.page.locator('.rehearsal', { hasText: 'リハーサル：' }).waitFor({ timeout: FOLLOWS_MS })
  await photograph(map.page, 'map-rehearsal')
  await using app = await event.open({ path: '/walk/?lang=en', viewport: { width: 390, height: 844 } })
  await app.page.getByText('Rehearsal: ').first().waitFor()
  await photograph(app.page, 'walk-rehearsal')
  // Trying to end the event leaves a way out.
  expect((await callAs(event.stack, 'owner', 'POST', 'admin/end-activity')).status).toBe(200)
  await page.reload()
  await page.locator('.event-archive').getByRole('button', { name: 'Save the archive' }).waitFor()
  expect(await page.locator('.event-archive input[name=settings-file]').count()).toBe(0)
  await page.getByRole('button', { name: 'End the rehearsal…' }).click()
  await page.getByRole('dialog').getByText('stay and count').waitFor()
  await page.getByRole('dialog').getByRole('button', { name: 'End the rehearsal' }).click()
  await bar.waitFor({ state: 'detached' })
})
