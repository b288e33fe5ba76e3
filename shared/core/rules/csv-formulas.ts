/** Prefixes an apostrophe to text that a spreadsheet would read as a formula, so that it stays text. */
export const noFormula = (text: string): string =>
  /^(\s*[=+\-@＝＋－＠]|[\t\r\n])/.test(text) ? `'${text}` : text
