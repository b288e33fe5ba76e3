/** The command line of `bun run replay`. */
import { parseArgs, type ParseArgsOptionsConfig } from 'node:util'
import { z } from 'zod'
import { isUserId, MAX_POINTS } from '#shared/contracts/fields.ts'
import { ReplayFault } from './replay-error.ts'

export const USAGE = `Sends a recorded GPX track as a pilgrim's phone would: a check-in at its start, then track points.

  bun run replay <file.gpx> --user <id> [options]

  --url <https://…>   where the service answers (default: https://localhost:8443)
  --ends <time>       the track ends at this ISO 8601 time with zone (default: it ends now)
  --keep-time         leave the times as recorded
  --speed <n>         send in n-times real time, n ≥ 1 (default: as fast as the limits allow)
  --half <1|2>        send only the first or the second half; the check-in goes with the first
  --shuffle           send the points in random order
  --seed <n>          the random order of an earlier run
  --repeat            send everything twice
  --batch <n>         most points in one request (default: 500)
  --tries <n>         give a request up after n refusals or failures in a row (default: 8)
  --settle            wait until the profile cannot be older than the last point sent (60 s)
  --ca <file>         certificate (PEM) of the authority to trust; on localhost the embedded run's own is
                      found in ./data/tls/cert.pem (EVENT_DATA_DIR)
  --insecure          trust any certificate
  --dry-run           show what the file holds, send nothing (needs no --user)
  --help              this text

Exit codes: 0 all points stored, 1 refused or failed, 2 wrong command line.`

/** End of the track: epoch milliseconds, the end of the replay, or the recorded time. */
export type End = number | 'now' | 'recorded'

export interface Options {
  readonly file: string
  /** Empty in a dry run without a user id. */
  readonly user: string
  /** Origin and base path, without a trailing slash. */
  readonly url: string
  readonly end: End
  /** Factor of real time; `null`: without pauses. */
  readonly speed: number | null
  readonly half: 1 | 2 | null
  /** Seed of the random order; `null`: the order of time. */
  readonly seed: number | null
  readonly repeat: boolean
  readonly batch: number
  readonly tries: number
  readonly settle: boolean
  readonly ca: string | null
  readonly insecure: boolean
  readonly dryRun: boolean
}

const FLAGS = {
  user: { type: 'string' },
  url: { type: 'string' },
  ends: { type: 'string' },
  'keep-time': { type: 'boolean', default: false },
  speed: { type: 'string' },
  half: { type: 'string' },
  shuffle: { type: 'boolean', default: false },
  seed: { type: 'string' },
  repeat: { type: 'boolean', default: false },
  batch: { type: 'string' },
  tries: { type: 'string' },
  settle: { type: 'boolean', default: false },
  ca: { type: 'string' },
  insecure: { type: 'boolean', default: false },
  'dry-run': { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
} as const

/**
 * Parses the command line.
 * @param defaultUrl URL of the service without `--url`
 * @returns `null` for `--help`
 * @throws ReplayFault with exit code 2, naming the option
 */
export function parseOptions(argv: readonly string[], defaultUrl: string): Options | null {
  const { values, positionals } = readFlags(argv, FLAGS)
  if (values.help) return null
  const [file, ...others] = positionals
  if (file === undefined) throw usage('Name the GPX file to send.')
  if (others.length > 0) throw usage(`One file at a time: ${others.join(' ')} is too many.`)
  const dryRun = values['dry-run']
  if (values.user === undefined && !dryRun) throw usage('Name the pilgrim: --user <id>.')
  if (values.user !== undefined && !isUserId(values.user)) {
    throw usage('--user must be 1 to 128 characters of A-Z a-z 0-9 _ . : @ -')
  }
  exclude(values.ends !== undefined && values['keep-time'], '--ends', '--keep-time')
  exclude(values.speed !== undefined && values.shuffle, '--speed', '--shuffle')
  exclude(values.ca !== undefined && values.insecure, '--ca', '--insecure')
  if (values.seed !== undefined && !values.shuffle) throw usage('--seed belongs to --shuffle.')
  return {
    file,
    user: values.user ?? '',
    url: urlOf(values.url ?? defaultUrl),
    end: values['keep-time'] ? 'recorded' : values.ends === undefined ? 'now' : timeOf(values.ends),
    speed: values.speed === undefined ? null : numberOf('--speed', values.speed, 1, 1e6),
    half: values.half === undefined ? null : halfOf(values.half),
    seed: values.shuffle ? seedOf(values.seed) : null,
    repeat: values.repeat,
    batch: wholeOf('--batch', values.batch ?? '500', 1, MAX_POINTS),
    tries: wholeOf('--tries', values.tries ?? '8', 1, 1_000),
    settle: values.settle,
    ca: values.ca ?? null,
    insecure: values.insecure,
    dryRun,
  }
}

export const usage = (sentence: string): ReplayFault => new ReplayFault(sentence, 2)

/** @throws ReplayFault with exit code 2 for unknown options */
export function readFlags<const Flags extends ParseArgsOptionsConfig>(
  argv: readonly string[],
  options: Flags,
) {
  try {
    return parseArgs({ args: [...argv], options, allowPositionals: true, strict: true })
  } catch (error) {
    throw usage(error instanceof Error ? error.message : String(error))
  }
}

function exclude(both: boolean, one: string, other: string): void {
  if (both) throw usage(`${one} and ${other} exclude each other.`)
}

/** @throws ReplayFault for what is no address of the service */
export function urlOf(given: string): string {
  const url = URL.canParse(given) ? new URL(given) : null
  if (url === null || url.protocol !== 'https:' || url.search !== '' || url.hash !== '') {
    throw usage(`--url must look like https://localhost:8443 (the service speaks HTTPS only), not ${given}`)
  }
  return url.href.replace(/\/+$/, '')
}

function timeOf(given: string): number {
  const time = z.iso.datetime({ offset: true }).safeParse(given)
  if (!time.success)
    throw usage(`--ends must be an ISO 8601 time with zone, as 2026-04-12T09:30:00+08:00, not ${given}`)
  return Date.parse(time.data)
}

function halfOf(given: string): 1 | 2 {
  if (given !== '1' && given !== '2') throw usage(`--half must be 1 or 2, not ${given}`)
  return given === '1' ? 1 : 2
}

const seedOf = (given: string | undefined): number =>
  given === undefined
    ? crypto.getRandomValues(new Uint32Array(1))[0]!
    : wholeOf('--seed', given, 0, 0xffffffff)

/** @throws ReplayFault for a number outside the bounds, or none */
export function numberOf(flag: string, given: string, min: number, max: number): number {
  const value = Number(given.trim() || NaN)
  if (!(value >= min && value <= max))
    throw usage(`${flag} must be a number from ${min} to ${max}, not ${given}`)
  return value
}

/** @throws ReplayFault for a number outside the bounds, or with a fraction */
export function wholeOf(flag: string, given: string, min: number, max: number): number {
  const value = numberOf(flag, given, min, max)
  if (!Number.isInteger(value)) throw usage(`${flag} must be a whole number, not ${given}`)
  return value
}
