/** The command line of `bun run replay`. */
import { z } from 'zod'
import { isUserId } from '#shared/contracts/fields.ts'
import { readCommandLine } from '#shared/runtime/command-line.ts'
import { createOptionChecks } from '#tests/helpers/option-checks.ts'

const USAGE = `Sends a recorded track as a pilgrim's phone would: a check-in at its start, then track points.
Reads GPX, KML and TCX, also gzipped or alone in a zip archive.

  bun run replay <file> --user <id> [options]

  --url <https://…>   where the service answers (default: https://localhost:8443)
  --ends <time>       the track ends at this ISO 8601 time with zone (default: it ends now)
  --keep-time         leave the times as recorded
  --speed <n>         send in n-times real time, n ≥ 1 (default: as fast as the limits allow)
  --half <1|2>        send only the first or the second half; the check-in goes with the first
  --shuffle           send the points in random order
  --repeat            send everything twice
  --ca <file>         certificate (PEM) of the authority to trust; on localhost the embedded run's own is
                      found in ./data/tls/cert.pem (EVENT_DATA_DIR)
  --insecure          trust any certificate
  --dry-run           show what the file holds, send nothing (needs no --user)
  --help              this text

Exit codes: 0 all points stored, 1 refused or failed, 2 wrong command line.`

export interface Options {
  readonly file: string
  /** Empty in a dry run without a user id. */
  readonly user: string
  /** Origin and base path, without a trailing slash. */
  readonly url: string
  /** End of the track: epoch milliseconds, the end of the replay, or the recorded time. */
  readonly end: number | 'now' | 'recorded'
  /** Factor of real time; `null`: without pauses. */
  readonly speed: number | null
  readonly half: 1 | 2 | null
  readonly shuffle: boolean
  readonly repeat: boolean
  readonly ca: string | null
  readonly insecure: boolean
  readonly dryRun: boolean
}

/** Reads the command line. @param defaultUrl URL of the service without `--url` */
export function readOptions(defaultUrl: string): Options {
  const { values, positionals } = readCommandLine(
    USAGE,
    {
      user: { type: 'string' },
      url: { type: 'string', default: defaultUrl },
      ends: { type: 'string' },
      'keep-time': { type: 'boolean', default: false },
      speed: { type: 'string' },
      half: { type: 'string' },
      shuffle: { type: 'boolean', default: false },
      repeat: { type: 'boolean', default: false },
      ca: { type: 'string' },
      insecure: { type: 'boolean', default: false },
      'dry-run': { type: 'boolean', default: false },
    },
    1,
  )
  const { user, url, ends, speed, half, shuffle, repeat, ca, insecure, 'dry-run': dryRun } = values
  const check = createOptionChecks(USAGE)
  if (user === undefined ? !dryRun : !isUserId(user))
    check.refuse('Name the pilgrim: --user <id>, 1 to 128 characters of A-Z a-z 0-9 _ . : @ -')
  check.exclude(ends !== undefined, values['keep-time'], '--ends and --keep-time')
  check.exclude(speed !== undefined, shuffle, '--speed and --shuffle')
  check.exclude(ca !== undefined, insecure, '--ca and --insecure')
  if (half !== undefined && half !== '1' && half !== '2') check.refuse(`--half must be 1 or 2, not ${half}`)
  if (ends !== undefined && !z.iso.datetime({ offset: true }).safeParse(ends).success)
    check.refuse(`--ends must be an ISO 8601 time with zone, as 2026-04-12T09:30:00+08:00, not ${ends}`)
  return {
    file: positionals[0] ?? check.refuse('Name the file to send, such as walk.gpx.'),
    user: user ?? '',
    url: check.url('--url', url),
    end: values['keep-time'] ? 'recorded' : ends === undefined ? 'now' : Date.parse(ends),
    speed: speed === undefined ? null : check.number('--speed', speed, 1, 1e6),
    half: half === undefined ? null : half === '1' ? 1 : 2,
    shuffle,
    repeat,
    ca: ca ?? null,
    insecure,
    dryRun,
  }
}
