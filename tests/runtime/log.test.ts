/** A log line is one line, whatever it tells of. */
import { expect, test } from 'bun:test'
import { createLog, errorFields } from '#shared/runtime/log.ts'

const FORGED = '\n{"level":"error","message":"forged"}\r\u2028\u2029\u0085'
const TERMINAL = '\u001b[2J\u009b31m\u202e\u2066\ufeff\u007f\u0000'

test('what a client sends neither breaks a line nor reaches a terminal as a command', () => {
  const lines: string[] = []
  const log = createLog({}, (line) => lines.push(line)).with({ service: FORGED })
  log.warn(TERMINAL, { user: FORGED, [TERMINAL]: 1, ...errorFields(new Error(FORGED + TERMINAL)) })
  expect(lines).toHaveLength(1)
  expect(lines[0]).toMatch(/^[\u0020-\u007e]+$/)
  expect(JSON.parse(lines[0]!)).toMatchObject({
    message: TERMINAL,
    service: FORGED,
    user: FORGED,
    [TERMINAL]: 1,
  })
})
