/** CSV cells of the service and the console: quoted, and never a formula. Files of spreadsheets, read back. */
import { expect, test } from 'bun:test'
import { csvOf, recordsOf } from '#proxy/pages/console/parts/csv.ts'
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

const TABLE = [
  ['key', 'text:nl'],
  ['walk.back', '5" terug'],
  ['walk.retry', 'a;b "c"'],
]

test.each([
  ['key;text:nl\r\nwalk.back;5" terug\r\nwalk.retry;"a;b ""c"""', 'key', TABLE],
  ['sep=;\r\n"key";"text:nl"\nwalk.back;5" terug\nwalk.retry;"a;b ""c"""', 'key', TABLE],
  [
    'Key\ttext:nl\rwalk.back\t5" terug\rwalk.retry\t"a;b ""c"""',
    'key',
    [['Key', 'text:nl'], ...TABLE.slice(1)],
  ],
  ['name,age\r\nLin,80', 'key', []],
  ['key,text:nl\r\nwalk.back,"Terug', 'key', []],
])('%j is read with its separator', (file, first, records) => {
  expect(recordsOf(file, first)).toEqual(records)
})
