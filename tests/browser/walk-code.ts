/** The twelve fields of the recovery code, filled as keyboards and clipboards do it. */
import { expect } from 'bun:test'
import type { Page } from 'playwright-core'

const fieldOf = (page: Page, number: number) => page.getByLabel(`Word ${number}`, { exact: true })
const focused = (page: Page): Promise<string> => page.evaluate(() => document.activeElement!.id)
const wordsIn = (page: Page): Promise<string[]> =>
  page.locator('.code-fields input').evaluateAll((all) => all.map((one) => (one as HTMLInputElement).value))

/** Pastes a text as it is: typing can not contain a line break. */
const paste = (page: Page, number: number, text: string): Promise<void> =>
  fieldOf(page, number).evaluate((field, pasted) => {
    const clipboardData = new DataTransfer()
    clipboardData.setData('text/plain', pasted)
    field.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }))
  }, text)

/** An input method offers characters: nothing is taken before one is chosen, and Enter chooses. */
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
  // The character is a word, so the next one follows.
  expect(await focused(page)).toBe('code-2')
  // Two at once, as a dictionary offers them.
  await keyboard.send('Input.imeSetComposition', { text: 'ㄎㄜ', selectionStart: 2, selectionEnd: 2 })
  await keyboard.send('Input.insertText', { text: '可以' })
  await page.getByText('3 of 12 words').waitFor()
  expect(await focused(page)).toBe('code-4')
  // A Japanese word has several characters, and ends with a blank of its own width.
  await keyboard.send('Input.imeSetComposition', { text: 'あいこ', selectionStart: 3, selectionEnd: 3 })
  await keyboard.send('Input.insertText', { text: 'あいこくしん' })
  await page.getByText('4 of 12 words').waitFor()
  expect(await focused(page)).toBe('code-4')
  await page.keyboard.insertText('　')
  expect(await focused(page)).toBe('code-5')
  expect((await wordsIn(page)).slice(0, 5)).toEqual(['愛', '可', '以', 'あいこくしん', ''])
  await keyboard.detach()
}

/** Fills the fields in every way that fills all of them at once, and empties them again. */
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
    // A whole code begins with its first word in every field.
    await paste(page, 1 + 3 * i, text)
    expect(await wordsIn(page)).toEqual([...words])
    for (const field of await page.locator('.code-fields input').all()) await field.fill('')
  }
}

/** What the keyboard adds by itself: a capital, and a blank after a word that it completes. */
async function complete(page: Page, word: string): Promise<void> {
  await fieldOf(page, 1).focus()
  await page.keyboard.insertText(`${word[0]!.toUpperCase()}${word.slice(1)} `)
  expect(await focused(page)).toBe('code-2')
  // A second blank by mistake is nothing.
  await page.keyboard.insertText(' ')
  expect((await wordsIn(page)).slice(1, 3)).toEqual(['', ''])
  for (const name of ['autocorrect', 'autocapitalize', 'autocomplete', 'spellcheck'])
    expect(await fieldOf(page, 2).getAttribute(name), name).toMatch(/^(off|none|false)$/)
}

/** Word by word from paper: a blank or Enter goes on to the next number, and after the last one the search begins. */
async function typeAll(page: Page, words: readonly string[]): Promise<void> {
  await fieldOf(page, 1).focus()
  for (const [i, word] of words.entries()) {
    await page.keyboard.press('ControlOrMeta+A')
    await page.keyboard.type(`${word.slice(0, 4)}${i % 2 === 0 ? ' ' : ''}`)
    if (i % 2 === 1) await page.keyboard.press('Enter')
  }
}

/** Types and pastes a code in every way. It is complete in the end, and searched for. */
export async function typeCode(page: Page, words: readonly string[]): Promise<void> {
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
