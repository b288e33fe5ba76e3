/** The pilgrims' app on a phone: registration, check-ins online and offline, failures, a lost phone. */
import { expect, test } from 'bun:test'
import { PAGE_WORDS } from '#shared/locales/by-language.ts'
import { words as said } from '#shared/locales/en/walk.ts'
import { setStatus } from '#tests/helpers/test-stack.ts'
import { profileOf } from '#tests/helpers/pilgrim.ts'
import { describeOnServers } from '#tests/helpers/suite.ts'
import { until } from '#tests/helpers/wait.ts'
import { photograph } from './browser.ts'
import {
  checkInButton,
  firstMinute,
  userIdOf,
  waitingOf,
  walkApp,
  worksOffline,
  keptOn,
} from './walk-harness.ts'
import type { Page } from 'playwright-core'

const fieldOf = (page: Page, number: number) => page.getByLabel(`Word ${number}`, { exact: true })
const focused = (page: Page): Promise<string> => page.evaluate(() => document.activeElement!.id)
const wordsIn = (page: Page): Promise<string[]> =>
  page.locator('.code-fields input').evaluateAll((all) => all.map((one) => (one as HTMLInputElement).value))

/** Pastes a text unchanged; typing cannot contain a line break. */
const paste = (page: Page, number: number, text: string): Promise<void> =>
  fieldOf(page, number).evaluate((field, pasted) => {
    const clipboardData = new DataTransfer()
    clipboardData.setData('text/plain', pasted)
    field.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }))
  }, text)

/** An input method offers characters: nothing is entered before one is chosen, and Enter chooses. */
async function compose(page: Page): Promise<void> {
  const keyboard = await page.context().newCDPSession(page)
  await fieldOf(page, 1).focus()
  await keyboard.send('Input.imeSetComposition', { text: 'ai4', selectionStart: 3, selectionEnd: 3 })
  await keyboard.send('Input.dispatchKeyEvent', {
    type: 'rawKeyDown',
    key: 'Enter',
    code: 'Enter',
    windowsVirtualKeyCode: 229,
  })
  expect(await focused(page)).toBe('code-1')
  expect(await page.getByText('0 of 12 words').count()).toBe(1)
  await keyboard.send('Input.insertText', { text: '愛' })
  await page.getByText('1 of 12 words').waitFor()
  // The character is a word, so the next field follows.
  expect(await focused(page)).toBe('code-2')
  // Two at once, as a dictionary offers them.
  await keyboard.send('Input.imeSetComposition', { text: 'ㄎㄜ', selectionStart: 2, selectionEnd: 2 })
  await keyboard.send('Input.insertText', { text: '可以' })
  await page.getByText('3 of 12 words').waitFor()
  expect(await focused(page)).toBe('code-4')
  // A Japanese word has several characters, and ends with a full-width space.
  await keyboard.send('Input.imeSetComposition', { text: 'あいこ', selectionStart: 3, selectionEnd: 3 })
  await keyboard.send('Input.insertText', { text: 'あいこくしん' })
  await page.getByText('4 of 12 words').waitFor()
  expect(await focused(page)).toBe('code-4')
  await page.keyboard.insertText('　')
  expect(await focused(page)).toBe('code-5')
  expect((await wordsIn(page)).slice(0, 5)).toEqual(['愛', '可', '以', 'あいこくしん', ''])
  await keyboard.detach()
}

/** Fills all fields at once in every possible way, and empties them again. */
async function pasteAll(page: Page, words: readonly string[]): Promise<void> {
  const wide = (text: string) =>
    text.replaceAll(/[a-z]/g, (c) => String.fromCodePoint(c.codePointAt(0)! + 0xfee0))
  const texts = [
    words.map((word, i) => `${i + 1}. ${word}`).join('\n'),
    words.join('\r\n'),
    words.map((word, i) => `${i + 1} ${word[0]!.toUpperCase()}${word.slice(1)},`).join('\t'),
    words.map(wide).join('　'),
  ]
  for (const [i, text] of texts.entries()) {
    // In every field, a whole code starts with its first word.
    await paste(page, 1 + 3 * i, text)
    expect(await wordsIn(page)).toEqual([...words])
    for (const field of await page.locator('.code-fields input').all()) await field.fill('')
  }
}

/** What the keyboard adds by itself: a capital letter, and a space after a completed word. */
async function complete(page: Page, word: string): Promise<void> {
  await fieldOf(page, 1).focus()
  await page.keyboard.insertText(`${word[0]!.toUpperCase()}${word.slice(1)} `)
  expect(await focused(page)).toBe('code-2')
  // An accidental second space is ignored.
  await page.keyboard.insertText(' ')
  expect((await wordsIn(page)).slice(1, 3)).toEqual(['', ''])
  for (const name of ['autocorrect', 'autocapitalize', 'autocomplete', 'spellcheck'])
    expect(await fieldOf(page, 2).getAttribute(name), name).toMatch(/^(off|none|false)$/)
}

/** Word by word: a space or Enter moves to the next number, and after the last one starts the search. */
async function typeAll(page: Page, words: readonly string[]): Promise<void> {
  await fieldOf(page, 1).focus()
  for (const [i, word] of words.entries()) {
    await page.keyboard.press('ControlOrMeta+A')
    await page.keyboard.type(`${word.slice(0, 4)}${i % 2 === 0 ? ' ' : ''}`)
    if (i % 2 === 1) await page.keyboard.press('Enter')
  }
}

/** Types and pastes a code in every way. Finally it is complete, and searched for. */
async function typeCode(page: Page, words: readonly string[]): Promise<void> {
  await page.getByText('0 of 12 words').waitFor()
  await fieldOf(page, 1).fill(words.slice(1).join(' '))
  await page.getByText('11 of 12 words').waitFor()
  await page.getByRole('button', { name: 'Find my walk' }).click()
  await page.getByText('The code has twelve words, not 11.').waitFor()
  await pasteAll(page, words)
  await compose(page)
  for (const field of await page.locator('.code-fields input').all()) await field.fill('')
  await complete(page, words[0]!)
  await typeAll(page, words)
}

describeOnServers('the app', () => {
  const app = walkApp({ EVENT_LIMIT_CHECKIN: '1000' })
  const counted = async (userId: string, checkins: number) =>
    until(
      async () => (await profileOf(app.stack, userId)).checkins === checkins,
      `${checkins} check-ins at the service`,
    )

  test('the first minute: a name, the consent with its version, done', async () => {
    await using phone = await app.newPhone()
    const { page } = phone
    await page.goto(app.address('?lang=en'))
    await page.getByRole('button', { name: 'I agree' }).click()
    expect(await page.getByRole('alert').textContent()).toBe('Please write a name.')
    await page.getByLabel('Your name').fill('سلام')
    await page.getByText('The card cannot show this script').waitFor()
    await page.getByLabel('Your name').fill('Grandmother')
    await page.getByText('Please write a name.').waitFor({ state: 'detached' })
    await firstMinute(page, 'Grandmother Wang')
    const profile = await profileOf(app.stack, await userIdOf(page))
    expect(profile).toMatchObject({ display_name: 'Grandmother Wang', privacy_agreed: true })
  })

  test('a check-in counts at once; without a network it is kept, said so, and sent by itself, each once', async () => {
    await using phone = await app.newPilgrim()
    const { page, context, userId } = phone
    await checkInButton(page).click()
    await page.locator('[data-state=counted]').waitFor()
    expect(await page.locator('[data-figure=checkins]').textContent()).toBe('1 check-in')

    await context.setOffline(true)
    await checkInButton(page).click()
    await page.locator('[data-state=kept]').waitFor()
    // The phone counts it before the service does.
    expect(await page.locator('[data-figure=checkins]').textContent()).toBe('2 check-ins')
    await page.getByText('No network. It goes on by itself.').waitFor()
    expect(await waitingOf(page)).toBe(1)
    await page.reload().catch(() => undefined)
    await context.setOffline(false)
    await page.goto(app.address())
    await counted(userId, 2)
    // The service counts it a moment before the phone gets the response.
    const isSettled = async () => (await waitingOf(page)) === 0
    await until(isSettled, 'the answer to reach the phone')
    expect(await page.locator('[data-figure=checkins]').textContent()).toBe('2 check-ins')
  })

  test('a counted check-in is told while somebody looks, then Stop is in sight; one that is only kept stays told', async () => {
    await using phone = await app.newPhone({ viewport: { width: 360, height: 640 } })
    const { page, context } = phone
    const [countedNote, kept] = [page.locator('[data-state=counted]'), page.locator('[data-state=kept]')]
    await page.clock.install()
    await page.goto(app.address('?lang=en'))
    await firstMinute(page, 'Grandmother Wang')
    await page.evaluate(() => (document.documentElement.dataset.letters = 'largest'))
    await context.setOffline(true)
    await checkInButton(page).click()
    await kept.waitFor()
    await page.clock.fastForward(60_000)
    await kept.waitFor()
    // It is counted while the page is hidden, and announced when it becomes visible.
    const turn = (state: string) =>
      page.evaluate((is) => {
        Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => is })
        document.dispatchEvent(new Event('visibilitychange'))
      }, state)
    await turn('hidden')
    await context.setOffline(false)
    await countedNote.waitFor()
    await page.clock.fastForward(30_000)
    await countedNote.waitFor()
    await turn('visible')
    await page.getByRole('button', { name: 'Start recording' }).click()
    await page.getByText('Recording.', { exact: true }).waitFor()
    // It is not visible below the dark screen either.
    await page.getByRole('button', { name: 'Dark screen' }).click()
    await page.locator('dialog.dark-screen').waitFor()
    await page.clock.fastForward(30_000)
    await page.keyboard.press('Escape')
    await page.locator('dialog.dark-screen').waitFor({ state: 'hidden' })
    await countedNote.waitFor()
    await page.clock.fastForward(11_000)
    await countedNote.waitFor({ state: 'detached' })
    await page.evaluate(() => scrollTo(0, 0))
    await photograph(page, 'walk-small-recording')
    const [state, stop, tabs] = await Promise.all([
      page.locator('[data-resting]').boundingBox(),
      page.getByRole('button', { name: 'Stop recording' }).boundingBox(),
      page.getByRole('navigation').boundingBox(),
    ])
    expect(state!.y).toBeGreaterThan(0)
    expect(stop!.y + stop!.height).toBeLessThanOrEqual(tabs!.y)
  })

  test('opens in a dead zone, and a check-in waits for the network', async () => {
    await using phone = await app.newPilgrim()
    const { page, context, userId } = phone
    await worksOffline(page)
    await context.setOffline(true)
    await page.reload()
    await page.setViewportSize({ width: 320, height: 400 })
    await checkInButton(page).click()
    // Also on a small phone the sentence is above the bar of tabs.
    await page.locator('[data-state=kept]').waitFor()
    await page.waitForFunction(() => {
      const [sentence, bar] = ['[data-state=kept]', 'nav'].map((one) =>
        document.querySelector(one)!.getBoundingClientRect(),
      )
      return sentence!.bottom <= bar!.top
    })
    // The texts of the recovery code and of the other tabs are available too.
    await page.getByRole('button', { name: 'Show the twelve words' }).click()
    await page.locator('.code-words li').first().waitFor()
    expect(await page.locator('.code-words li').count()).toBe(12)
    await context.setOffline(false)
    await counted(userId, 1)
  })

  test('two windows are one app', async () => {
    await using phone = await app.newPilgrim()
    const { page, context, userId } = phone
    const other = await context.newPage()
    await other.goto(app.address())
    await page.getByRole('button', { name: 'Start recording' }).click()
    await page.getByText('Recording.', { exact: true }).waitFor()
    await photograph(page, 'walk-recording')
    await page.getByText('While you look at the map, nothing is recorded.').waitFor()
    // The advice for the phone is above the tabs.
    const advice = await page.getByText('Do not press the power key.').boundingBox()
    const dark = await page.getByRole('button', { name: 'Dark screen' }).boundingBox()
    const tabs = await page.getByRole('navigation').boundingBox()
    expect(advice!.y).toBeGreaterThan(0)
    expect(dark!.y).toBeGreaterThan(advice!.y)
    expect(dark!.y + dark!.height).toBeLessThan(tabs!.y)
    await other.getByText('Another window records your walk.').waitFor()
    await checkInButton(page).click()
    await checkInButton(other).click()
    await counted(userId, 2)
    // The other window takes over.
    await page.close()
    await other.getByText('Recording.', { exact: true }).waitFor()
  })

  test('a lost phone is no lost walk: the code brings it to another one (long)', async () => {
    await using lost = await app.newPilgrim('Old Li')
    await checkInButton(lost.page).click()
    await counted(lost.userId, 1)
    await lost.page.getByRole('button', { name: 'Show the twelve words' }).click()
    await lost.page.locator('.code-words li').first().waitFor()
    const words = await lost.page.locator('.code-words li').allTextContents()
    expect(words).toHaveLength(12)
    // All of them are visible at once.
    await lost.page.setViewportSize({ width: 390, height: 780 })
    const [last, tabs] = await Promise.all([
      lost.page.locator('.code-words').boundingBox(),
      lost.page.getByRole('navigation').boundingBox(),
    ])
    expect(last!.y + last!.height).toBeLessThan(tabs!.y)

    await using found = await app.newPhone()
    const { page } = found
    await page.goto(app.address('?lang=en'))
    await page.getByRole('button', { name: 'I have walked before' }).click()
    await typeCode(page, words)
    await page.getByText('Is this you? Old Li').waitFor()
    expect(await page.getByText(said.recovery.byLink).count()).toBe(0)
    await page.getByRole('button', { name: 'Yes, that is me' }).click()
    await page.getByText('1 check-in').waitFor()
    await checkInButton(page).click()
    await counted(lost.userId, 2)

    // The QR code's address does the same.
    await using third = await app.newPhone()
    await third.page.goto(app.address(`?lang=en#restore=${lost.userId}`))
    await third.page.getByText('Is this you? Old Li').waitFor()
    // It may be someone else's, who would then know where this pilgrim is.
    await third.page.getByText(said.recovery.byLink).waitFor()
    expect(third.page.url()).not.toContain(lost.userId)
    // The address is also cleared if it arrives while the view is shown.
    await third.page.evaluate((id) => (location.hash = `restore=${id}`), lost.userId)
    await until(() => !third.page.url().includes(lost.userId), 'the id to leave the address')
  })

  test('what the service refuses is asked for once when somebody looks', async () => {
    await using phone = await app.newPilgrim()
    const { page, context } = phone
    const asked: string[] = []
    let answer = { status: 0, json: {} }
    await context.route('**/api/event/user/**', (route) => {
      asked.push(route.request().method())
      return route.fulfill(answer)
    })
    for (const [status, code, known, expected] of [
      [403, 'forbidden', true, ['GET']],
      [503, 'unavailable', true, ['GET']],
      [503, 'unavailable', false, ['GET', 'POST']],
      [404, 'not-found', true, ['GET', 'POST']],
    ] as const) {
      answer = { status, json: { error: `It is ${code}.`, code } }
      await page.evaluate(
        ([person, isKnown]) => {
          new BroadcastChannel('walk-values').postMessage([['walk-person', { ...person, known: isKnown }]])
          document.dispatchEvent(new Event('visibilitychange'))
        },
        [await keptOn<object>(page, 'person'), known] as const,
      )
      await until(async () => asked.length >= expected.length, 'the requests')
      await Bun.sleep(500)
      expect(asked.splice(0).sort()).toEqual([...expected])
    }
  })

  test('a pause is told with the organisers’ message; what is recorded meanwhile is kept, and sent after it', async () => {
    // Restore the event for the other tests of this file, even if this one fails.
    await using _ = {
      [Symbol.asyncDispose]: async () => void (await setStatus(app.stack, { status: 'active' })),
    }
    await using phone = await app.newPhone()
    const { page } = phone
    await page.clock.install()
    await page.goto(app.address('?lang=en'))
    await firstMinute(page, 'Idle Chen')
    // From now on the app does nothing by itself. A touch polls if the status is older than ten seconds.
    await page.clock.pauseAt(Date.now() + 11_000)
    await setStatus(app.stack, {
      status: 'paused',
      messages: { 'zh-Hant': '雷雨，請留在廟裡。', en: 'Thunder. Wait at the temple.' },
    })
    await page.getByRole('heading', { name: 'Idle Chen' }).click()
    await page.getByText('Thunder. Wait at the temple.').waitFor()
    await page.locator('.status').getByText(PAGE_WORDS.en.paused).waitFor()
    const asked: string[] = []
    page.on('request', (request) => asked.push(new URL(request.url()).pathname))
    await checkInButton(page).click()
    // The app knows of the pause and does not send what would be rejected.
    await page.locator('[data-waiting]').getByText(PAGE_WORDS.en.paused).waitFor()
    expect(asked).toEqual([])
    await photograph(page, 'walk-event-paused', true)
    expect(await waitingOf(page)).toBe(1)
    // A tap gets a reaction even if nothing changes.
    await page.getByRole('button', { name: 'Send now' }).click()
    expect(await page.locator('.toast').innerText()).toContain('Not sent yet. The event is paused.')
    await photograph(page, 'walk-not-sent')
    expect(await waitingOf(page)).toBe(1)
    // The app learns that the event has resumed, and sends at once.
    await setStatus(app.stack, { status: 'active' })
    await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')))
    await page.locator('[data-state=counted]').waitFor()
    await counted(await userIdOf(page), 1)
    expect(await page.getByText('Thunder. Wait at the temple.').count()).toBe(0)
    await page.locator('.status').getByText('The event goes on.').waitFor()
  })

  test.each([
    [429, 'rate-limited', 'Too many tries. It goes on by itself'],
    [503, 'unavailable', 'The service is busy. It goes on by itself.'],
    [401, 'unauthorized', 'LINE asks you to log in again.'],
    [403, 'forbidden', 'Please ask the organisers.'],
    [500, 'internal', 'The service is busy. It goes on by itself.'],
  ])('%p is a sentence, and loses nothing', async (status, code, sentence) => {
    await using phone = await app.newPilgrim()
    const { page, userId } = phone
    expect(await page.getByText(sentence).count()).toBe(0)
    await page.route('**/api/event/checkin', (route) =>
      route.fulfill({ status, headers: { 'Retry-After': '30' }, json: { error: 'No.', code } }),
    )
    await checkInButton(page).click()
    await page.getByText(sentence).first().waitFor()
    await photograph(page, `walk-answer-${status}`, true)
    expect(await waitingOf(page)).toBe(1)
    await page.unroute('**/api/event/checkin')
    // It may have been sent automatically before the button is pressed.
    const press = page.getByRole('button', { name: 'Send now' }).click()
    void press.catch(() => undefined)
    await counted(userId, 1)
  })

  test('without a position it says what to do', async () => {
    await using phone = await app.newPhone({ permissions: [] })
    const { page } = phone
    await page.goto(app.address('?lang=en'))
    await firstMinute(page, 'Nobody knows where')
    await checkInButton(page).click()
    await page.getByText('Not checked in: The phone does not allow the position.').waitFor()
    await photograph(page, 'walk-no-permission')
    // The later action replaces the message and shows its own error.
    await page.getByRole('button', { name: 'Start recording' }).click()
    await page.getByText('Not checked in').waitFor({ state: 'detached' })
  })

  test.each([
    [3, 'fast'],
    [-3, 'slow'],
  ])(
    'a clock that is wrong by %p hours is told, and the walk counts at the right time',
    async (hours, how) => {
      await using phone = await app.newPhone()
      const { page } = phone
      const before = Date.now()
      await page.clock.install({ time: before + hours * 3_600_000 })
      await page.goto(app.address('?lang=en'))
      await firstMinute(page, 'Three hours')
      await page.getByText(`This phone’s clock is 180 minutes ${how}.`).waitFor()
      await photograph(page, `walk-clock-${how}`)
      await checkInButton(page).click()
      const userId = await userIdOf(page)
      await counted(userId, 1)
      const answer = await app.stack.fetch('/api/event/me/walk', {
        method: 'POST',
        body: JSON.stringify({ user_id: userId }),
      })
      const { data } = (await answer.json()) as { data: { checkins: { t: string }[] } }
      expect(Math.abs(Date.parse(data.checkins[0]!.t) - before)).toBeLessThan(60_000)
    },
  )
})
