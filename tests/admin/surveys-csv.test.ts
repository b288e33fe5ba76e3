/** Cells of the surveys' CSV: quoted, and never a formula. */
import { expect, test } from 'bun:test'
import { csvCell } from '#services/admin/reports/list-surveys.ts'

test.each([
  ['plain', '"plain"'],
  ['', '""'],
  [null, '""'],
  [undefined, '""'],
  [0, '"0"'],
  [false, '"false"'],
  [['a', 'b; c'], '"a; b; c"'],
  [[], '""'],
  ['says "no", twice\r\nand more', '"says ""no"", twice\r\nand more"'],
  ['阿嬤', '"阿嬤"'],
  ['=1+1', `"'=1+1"`],
  ['+1', `"'+1"`],
  ['-1', `"'-1"`],
  [-1, `"'-1"`],
  ['@SUM(A1)', `"'@SUM(A1)"`],
  ['\t=1', `"'\t=1"`],
  ['\r=1', `"'\r=1"`],
  [['=1', 'b'], `"'=1; b"`],
  ['a=1', '"a=1"'],
])('%j', (value, cell) => {
  expect(csvCell(value)).toBe(cell)
})
