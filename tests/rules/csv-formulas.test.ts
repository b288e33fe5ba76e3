/** CSV cells of the service and the console: quoted, and never a formula. */
import { expect, test } from 'bun:test'
import { csvOf } from '#proxy/pages/console/parts/csv.ts'
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
  ['  =1', `"'  =1"`],
  ['\u3000=1', `"'\u3000=1"`],
  ['＝1+1', `"'＝1+1"`],
  ['＠SUM(A1)', `"'＠SUM(A1)"`],
  ['a=1', '"a=1"'],
])('%j', (value, cell) => {
  expect(csvCell(value)).toBe(cell)
  // The console quotes only if necessary, and numbers stay numbers.
  if (typeof value !== 'string') return
  const [first] = csvOf([[value, -1.5]])
    .slice(1)
    .split(/,-1\.5\r\n$/)
  expect([cell, cell.slice(1, -1)]).toContain(first!)
})
