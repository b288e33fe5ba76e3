/** Reports in the app: missing fields are reported, and a picture can be replaced, removed and sent. */
import { expect, test } from 'bun:test'
import { readAs } from '#tests/helpers/test-stack.ts'
import { until } from '#tests/helpers/wait.ts'
import { type Page, photograph, SCREENSHOTS } from './browser.ts'
import { findNoPlace, holdPlace, look, searches, tellPlace } from './phone-watch.ts'
import { PLACE, type WalkApp, worksOffline, entriesOn } from './walk-harness.ts'

/** A picture of one pixel. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
)

const sendButton = (page: Page) => page.getByRole('button', { name: 'Send', exact: true })

async function write(page: Page, category: string, text: string): Promise<void> {
  await page.getByLabel('What is it about?').selectOption(category)
  await page.getByLabel('What happened?').fill(text)
}

/** Writes a report while the position is still being searched. */
async function writeWithoutPlace(app: WalkApp, page: Page, text: string): Promise<void> {
  await page.goto(app.address('#say'))
  await holdPlace(page)
  await page.evaluate(() => (location.hash = 'feedback'))
  await searches(page)
  await page.getByText('Looking for your place').waitFor()
  await write(page, 'safety', text)
}

/** Elements that cover a corner of the button, or cut it off. */
const coversSend = (page: Page): Promise<string[]> =>
  sendButton(page).evaluate((button) => {
    const { left, right, top, bottom } = button.getBoundingClientRect()
    const corners = [left + 8, right - 8].flatMap((x) => [top + 8, bottom - 8].map((y) => [x, y] as const))
    return corners
      .map(([x, y]) => document.elementFromPoint(x, y))
      .filter((one) => one !== button)
      .map((one) => one?.outerHTML.slice(0, 60) ?? 'outside')
  })

export function reportTests(app: WalkApp): void {
  test('a report with a picture arrives', async () => {
    await using phone = await app.newPilgrim()
    const { page } = phone
    await page.goto(app.address('#feedback'))
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    // The message is at its field, which has the focus.
    await page.locator('.field:has(#category:focus) [role=alert]').getByText('Please choose').waitFor()
    await page.getByLabel('What is it about?').selectOption('safety')
    // It disappears once the field is filled in.
    await page.getByRole('alert').getByText('Please choose').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    await page.locator('.field:has(#report:focus)').getByText('Please write a few words.').waitFor()
    const readers = await page.getByText('Everybody can read your words.').boundingBox()
    expect(readers!.y).toBeLessThan((await page.locator('#report').boundingBox())!.y)
    await page.getByLabel('What happened?').fill('A dog followed me.')
    const picture = page.locator('input[type=file]')
    await picture.setInputFiles({ name: 'x.png', mimeType: 'image/png', buffer: Buffer.from('no picture') })
    await page.getByText('This picture cannot be read.').waitFor()
    expect(await page.getByAltText('Your picture').count()).toBe(0)
    await picture.setInputFiles({ name: 'dog.png', mimeType: 'image/png', buffer: PNG })
    await page.getByAltText('Your picture').waitFor()
    const placeText = page.locator('#place-said')
    await placeText.getByText(/Your place of/).waitFor()
    expect(await placeText.textContent()).toMatch(/^Your place of \d\d:\d\d\.$/)
    await photograph(page, 'walk-report', true)
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    await page.getByText('Thank you. It arrived').waitFor()
    await page.getByText('With your place.').waitFor()
    await photograph(page, 'walk-report-arrived')
    const board = await readAs(app.stack, 'manager', 'feedback')
    const text = await board.text()
    expect(text).toMatch(/A dog followed me\..*feedback-image/)
    expect(text).toContain('"category":"safety"')
    const { data } = JSON.parse(text) as { data: { items: { device_info: string }[] } }
    const { place } = JSON.parse(data.items[0]!.device_info) as { place: object }
    expect(place).toMatchObject({ lat: PLACE.latitude, lng: PLACE.longitude, accuracy: PLACE.accuracy })
    // The public board has the text, but no position.
    const publicBoard = await (await app.stack.fetch('/api/event/feedback')).text()
    expect(publicBoard).toContain('A dog followed me.')
    expect(publicBoard).not.toContain(String(PLACE.latitude))
    await page.getByRole('button', { name: 'Back' }).click()
    await page.getByRole('heading', { name: 'Feedback' }).waitFor()
  })

  test('a report of a dead zone goes by itself, with its picture, also after the app was closed, and once', async () => {
    await using phone = await app.newPilgrim('Grandmother Chen')
    const { page, context } = phone
    await worksOffline(page)
    await page.goto(app.address('#feedback'))
    await context.setOffline(true)
    await write(page, 'service', 'The well is dry.')
    await page
      .locator('input[type=file]')
      .setInputFiles({ name: 'well.png', mimeType: 'image/png', buffer: PNG })
    await page.getByText('Your place of').waitFor()
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    await page.getByText('Your report is saved on this phone.').waitFor()
    await photograph(page, 'walk-report-waits')
    await page.getByRole('button', { name: 'Back' }).click()
    await page.getByText('Your report is saved on this phone. It is sent by itself').waitFor()
    // The first tab says the same.
    await page.goto(app.address('#walk'))
    await page.getByText('Your report is saved on this phone. It is sent by itself').waitFor()
    expect(await page.getByText('Everything is sent.').count()).toBe(0)
    await page.goto('about:blank')
    await context.setOffline(false)
    // The first response is lost after the service has stored the report.
    let sent = 0
    await context.route('**/api/event/feedback', async (route) => {
      if (route.request().method() !== 'POST' || ++sent > 1) return route.continue()
      const given = { method: 'POST', headers: route.request().headers(), body: route.request().postData() }
      expect((await app.stack.fetch('/api/event/feedback', given)).ok).toBe(true)
      return route.abort()
    })
    // With two windows, one of them sends.
    const other = await context.newPage()
    await Promise.all([page.goto(app.address('#say')), other.goto(app.address('#say'))])
    await until(() => sent > 0, 'the first attempt')
    // The next attempt is due within a minute, or when the app is opened.
    await page.reload()
    for (const window of [page, other]) await window.getByText(/Report \d+ arrived at \d\d:\d\d\./).waitFor()
    await photograph(page, 'walk-say-arrived')
    const board = await readAs(app.stack, 'manager', 'feedback')
    const { data } = (await board.json()) as {
      data: { items: { description: string; screenshot_url: string; device_info: string }[] }
    }
    const arrived = data.items.filter(({ description }) => description === 'The well is dry.')
    expect(arrived).toHaveLength(1)
    expect(sent).toBeGreaterThan(1)
    expect(arrived[0]!.screenshot_url).toContain('feedback-image')
    expect(JSON.parse(arrived[0]!.device_info)).toMatchObject({ place: { lat: PLACE.latitude } })
  })

  test('a report goes without a place where the phone does not allow it, and keeps the place where it was written', async () => {
    await using phone = await app.newPilgrim('Grandfather Lin', { permissions: [] })
    const { page, context } = phone
    await page.goto(app.address('#feedback'))
    const box = page.getByLabel('Send where I am')
    await page.getByText('Please write where it was.').waitFor()
    expect(await box.isChecked()).toBe(false)
    await write(page, 'service', 'There is no water here.')
    await box.check()
    await page.getByText('The phone does not allow the position.').waitFor()
    // Only the pilgrim changes the checkbox.
    expect(await box.isChecked()).toBe(true)
    await context.grantPermissions(['geolocation'])
    await box.uncheck()
    await box.check()
    await page.getByText('Your place of').waitFor()
    // It is sent from elsewhere, at the next place with a network.
    await context.setGeolocation({ ...PLACE, latitude: 24.3 })
    await page.reload()
    await page.getByText('Your place of').waitFor()
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    await page.getByText('With your place.').waitFor()
    const board = await readAs(app.stack, 'manager', 'feedback')
    const { data } = (await board.json()) as { data: { items: { device_info: string }[] } }
    expect(JSON.parse(data.items[0]!.device_info)).toMatchObject({ place: { lat: PLACE.latitude } })
  })

  test('one press sends a report whose place is not found: at once, in time, put away or closed, each once', async () => {
    const placesOf = async (text: string): Promise<unknown[]> => {
      const board = await readAs(app.stack, 'manager', 'feedback')
      const { data } = (await board.json()) as {
        data: { items: { description: string; device_info: string | null }[] }
      }
      return data.items
        .filter(({ description }) => description === text)
        .map(({ device_info: info }) => (JSON.parse(info ?? '{}') as { place?: { lat: number } }).place?.lat)
    }
    await using phone = await app.newPilgrim('Great-aunt Chen')
    const { page } = phone
    const without = page.getByText('Without your place. Please write in another report where you are.')

    // The phone gave up before the tap.
    await writeWithoutPlace(app, page, 'I am injured: one.')
    await findNoPlace(page)
    await page.getByText('No position yet.').waitFor()
    expect(await page.getByLabel('Send where I am').isChecked()).toBe(true)
    await sendButton(page).click()
    await without.waitFor()
    await page.getByRole('link', { name: '119' }).waitFor()
    expect(await placesOf('I am injured: one.')).toEqual([undefined])

    // The search continues after the tap, and succeeds.
    await writeWithoutPlace(app, page, 'I am injured: two.')
    await sendButton(page).click()
    await page.getByText('Sending …').waitFor()
    await tellPlace(page)
    await page.getByText('With your place.').waitFor()
    expect(await placesOf('I am injured: two.')).toEqual([PLACE.latitude])

    // The search never ends, as behind an unanswered permission prompt.
    await writeWithoutPlace(app, page, 'I am injured: three.')
    await sendButton(page).click()
    await without.waitFor({ timeout: 30_000 })
    expect(await placesOf('I am injured: three.')).toEqual([undefined])

    // The app is hidden: the page may be stopped, and gets no position.
    await writeWithoutPlace(app, page, 'I am injured: four.')
    await sendButton(page).click()
    await page.getByText('Sending …').waitFor()
    await look(page, 'hidden')
    await until(async () => (await placesOf('I am injured: four.')).length > 0, 'the report', {
      timeoutMs: 5_000,
    })
    await look(page, 'visible')
    await without.waitFor()
    await tellPlace(page)

    // The app is closed: it has stored the report, and sends it when it is opened. A second window does
    // not send it again.
    await writeWithoutPlace(app, page, 'I am injured: five.')
    await sendButton(page).click()
    await page.getByText('Sending …').waitFor()
    await page.goto('about:blank')
    const other = await phone.context.newPage()
    await Promise.all([page.goto(app.address('#say')), other.goto(app.address('#say'))])
    await until(async () => (await placesOf('I am injured: five.')).length > 0, 'the report', {
      timeoutMs: 10_000,
    })
    await page.getByText(/Report \d+ arrived at/).waitFor()
    for (const number of ['four', 'five'])
      expect(await placesOf(`I am injured: ${number}.`)).toEqual([undefined])

    // Clearing the checkbox during the search sends no position.
    await writeWithoutPlace(app, page, 'I am injured: six.')
    await page.getByLabel('Send where I am').uncheck()
    await sendButton(page).click()
    await until(async () => (await placesOf('I am injured: six.')).length > 0, 'the report')
    await tellPlace(page)
    expect(await placesOf('I am injured: six.')).toEqual([undefined])
    // The pilgrim is not asked for what they declined to share.
    await page.getByText('Sending …').waitFor({ state: 'detached' })
    expect(await without.count()).toBe(0)
  }, 120_000)

  test('a place that is found while an earlier report waits is kept with its own', async () => {
    await using phone = await app.newPilgrim('Cold Chen')
    const { page, context } = phone
    await worksOffline(page)
    await page.goto(app.address('#feedback'))
    await context.setOffline(true)
    await write(page, 'service', 'Earlier.')
    await page.getByText('Your place of').waitFor()
    await sendButton(page).click()
    await page.getByText('Your report is saved on this phone.').waitFor()
    await page.getByRole('button', { name: 'Back' }).click()
    await holdPlace(page)
    await page.evaluate(() => (location.hash = 'feedback'))
    await searches(page)
    await write(page, 'safety', 'Later.')
    await sendButton(page).click()
    await tellPlace(page)
    /** Reports with their position, which may be a separate entry until the report is sent. */
    const placed = async () => {
      const all = (await entriesOn(page)).filter(({ kind }) => kind === 'report')
      const withPlace = all.filter(({ fields }) => 'device_info' in fields)
      return new Set(withPlace.map(({ fields }) => (fields as { key: string }).key)).size
    }
    await until(async () => (await placed()) === 2, 'both places to be kept')
  })

  test('a report that fails the service holds up no other one', async () => {
    await using phone = await app.newPilgrim()
    const { page } = phone
    await page.route('**/api/event/feedback', (route) =>
      route.request().postData()?.includes('One of two.')
        ? route.fulfill({ status: 500, json: { error: 'No.', code: 'internal' } })
        : route.continue(),
    )
    for (const text of ['One of two.', 'The other one.']) {
      await page.goto(app.address('#say'))
      await page.evaluate(() => (location.hash = 'feedback'))
      await write(page, 'service', text)
      await sendButton(page).click()
      await sendButton(page).waitFor({ state: 'detached' })
    }
    await until(
      async () => (await (await readAs(app.stack, 'manager', 'feedback')).text()).includes('The other one.'),
      'the other report to arrive',
    )
    await page.goto(app.address('#say'))
    await page.getByText('Your report is saved on this phone.').waitFor()
  })

  test('the button that sends is in reach wherever the page is read, also when a sentence comes', async () => {
    await using phone = await app.newPilgrim('Uncle Lu')
    const { page } = phone
    for (const [width, height] of [
      [360, 640],
      [390, 844],
    ] as const)
      for (const [letters, theme] of [
        ['normal', 'light'],
        ['normal', 'dark'],
        ['largest', 'light'],
      ] as const) {
        await page.setViewportSize({ width, height })
        const stored = { 'event-letters': letters, 'event-theme': theme }
        await page.evaluate((all) => Object.assign(localStorage, all), stored)
        await writeWithoutPlace(app, page, 'I am injured.')
        await page.reload()
        const name = `walk-report-${height}-${letters}-${theme}`
        await photograph(page, `${name}-form`)
        const covers = [await coversSend(page)]
        await holdPlace(page)
        await page.getByLabel('Send where I am').uncheck()
        await page.getByLabel('Send where I am').check()
        await searches(page)
        await findNoPlace(page)
        await page.getByText('No position yet.').waitFor()
        covers.push(await coversSend(page))
        await photograph(page, `${name}-no-place`)
        await page.evaluate(() => scrollTo(0, document.body.scrollHeight))
        covers.push(await coversSend(page))
        await photograph(page, `${name}-end`)
        expect(covers).toEqual([[], [], []])
        if (SCREENSHOTS === undefined) continue
        await sendButton(page).click()
        await page.getByText('Without your place.').waitFor()
        await photograph(page, `${name}-sent`)
      }
  }, 120_000)
}
