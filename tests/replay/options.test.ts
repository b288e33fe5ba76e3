import { describe, expect, test } from 'bun:test'
import { ReplayFault } from './replay-error.ts'
import { parseOptions } from './options.ts'

const URL_GIVEN = 'https://localhost:8443'
const parse = (line: string) => parseOptions(line.split(' ').filter(Boolean), URL_GIVEN)

test('a file and a pilgrim are enough', () => {
  expect(parse('walk.gpx --user U1')).toEqual({
    file: 'walk.gpx',
    user: 'U1',
    url: URL_GIVEN,
    end: 'now',
    speed: null,
    half: null,
    seed: null,
    repeat: false,
    batch: 500,
    tries: 8,
    settle: false,
    ca: null,
    insecure: false,
    dryRun: false,
  })
})

describe('options', () => {
  test('times', () => {
    expect(parse('w --user u --ends 2026-04-12T09:30:00+08:00')?.end).toBe(Date.parse('2026-04-12T01:30:00Z'))
    expect(parse('w --user u --keep-time')?.end).toBe('recorded')
  })

  test('rehearsals', () => {
    expect(parse('w --user u --shuffle --seed 42 --repeat --half 2 --batch 50')).toMatchObject({
      seed: 42,
      repeat: true,
      half: 2,
      batch: 50,
    })
    expect(parse('w --user u --shuffle')?.seed).toBeNumber()
    expect(parse('w --user u --speed 7.5')?.speed).toBe(7.5)
  })

  test('a base address keeps its path and loses its last slash', () => {
    expect(parse('w --user u --url https://example.org/')?.url).toBe('https://example.org')
    expect(parse('w --user u --url https://example.org:444/event/')?.url).toBe(
      'https://example.org:444/event',
    )
  })

  test('help needs nothing, a dry run no pilgrim', () => {
    expect(parse('--help')).toBeNull()
    expect(parse('-h')).toBeNull()
    expect(parse('w --dry-run')).toMatchObject({ dryRun: true, user: '' })
  })
})

describe('a wrong command line is refused with exit code 2, naming the option', () => {
  test.each([
    ['', /GPX file/],
    ['w', /--user/],
    ['w v --user u', /v is too many/],
    ['w --user a/b', /--user/],
    ['w --user ..', /--user/],
    ['w --user u --what', /--what/],
    ['w --user', /--user/],
    ['w --user u --url http://localhost', /HTTPS/],
    ['w --user u --url localhost:8443', /--url/],
    ['w --user u --url https://x/?a=1', /--url/],
    ['w --user u --ends tomorrow', /--ends/],
    ['w --user u --ends 2026-04-12T09:30:00', /zone/],
    ['w --user u --ends 2026-04-12T09:30:00Z --keep-time', /--ends and --keep-time/],
    ['w --user u --speed 0.5', /--speed/],
    ['w --user u --speed fast', /--speed/],
    ['w --user u --speed 2 --shuffle', /--speed and --shuffle/],
    ['w --user u --half 3', /--half/],
    ['w --user u --seed 1', /--seed/],
    ['w --user u --shuffle --seed -1', /--seed/],
    ['w --user u --batch 0', /--batch/],
    ['w --user u --batch 5001', /--batch/],
    ['w --user u --batch 1.5', /--batch/],
    ['w --user u --tries 0', /--tries/],
    ['w --user u --ca x --insecure', /--ca and --insecure/],
  ])('%p', (line, sentence) => {
    let fault: unknown
    try {
      parse(line)
    } catch (error) {
      fault = error
    }
    expect(fault).toBeInstanceOf(ReplayFault)
    expect((fault as ReplayFault).exitCode).toBe(2)
    expect((fault as ReplayFault).message).toMatch(sentence)
  })
})
