/** A text that a spreadsheet would read as a formula gets an apostrophe; so it stays the text that it is. */
export const noFormula = (text: string): string =>
  /^(\s*[=+\-@＝＋－＠]|[\t\r\n])/.test(text) ? `'${text}` : text
