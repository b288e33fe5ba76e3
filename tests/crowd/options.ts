/** The command line of `bun run demo`. */
import { numberOf, readFlags, urlOf, usage, wholeOf } from '../replay/options.ts'

export const USAGE = `Walks a pilgrimage with an invented crowd: from Baishatun to Beigang and back, in eight days.
Starts a service of its own with new data, or sends to one that runs (--url).

  bun run demo [options]

  --pilgrims <n>      people (default: 500)
  --speed <n>         n-times real time, n ≥ 1 (default: it reaches the present after a minute or two)
  --seed <n>          another crowd; the same seed gives the same one (default: 1)
  --from <hour>       begin this many hours after the departure; what was before is sent at once
                      (default: the seventh day, on the way back)
  --whole             begin with the departure, eight days ago, so that the whole walk can be sent fast
  --points <n>        end after n measured points
  --points-only       people check in and walk, and do nothing else: for loads
  --exit              end when the walk has ended, instead of keeping the own service up
  --url <https://…>   send to this service. Ids of the crowd begin with Ude30 or demo-
  --token <token>     an operator's token for --url, to show the service's figures. Or: EVENT_VOLUNTEER_TOKEN
  --ca <file>         certificate (PEM) of the authority to trust for --url
  --insecure          trust any certificate
  --help              this text

The own service listens on EVENT_PORT (8443). Its data is in a new temporary directory and removed at the end, or in
EVENT_DATA_DIR and kept; an EVENT_DATA_DIR with other data than a demo's is refused. With --url, people use LINE only if
LINE_CHANNEL_SECRET is that of the service.

Points lie in the past: when the crowd has caught up with the present, it walks on in real time. Ctrl-C ends it.
Exit codes: 0 ended or stopped, 1 failed, 2 wrong command line.`

export interface Options {
  readonly pilgrims: number
  /** Null: so fast that the crowd is soon in the present. */
  readonly speed: number | null
  readonly seed: number
  /** Hours since the departure, `whole`, or the default. */
  readonly from: number | 'whole' | null
  readonly maxPoints: number
  readonly pointsOnly: boolean
  readonly exits: boolean
  /** Null: a service of its own. */
  readonly url: string | null
  readonly token: string | null
  readonly ca: string | null
  readonly insecure: boolean
}

const FLAGS = {
  pilgrims: { type: 'string', default: '500' },
  speed: { type: 'string' },
  seed: { type: 'string', default: '1' },
  from: { type: 'string' },
  whole: { type: 'boolean', default: false },
  points: { type: 'string' },
  'points-only': { type: 'boolean', default: false },
  exit: { type: 'boolean', default: false },
  url: { type: 'string' },
  token: { type: 'string' },
  ca: { type: 'string' },
  insecure: { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
} as const

/** The end of the walk, hours. */
const LAST_HOUR = 191

/**
 * Parses the command line.
 * @returns `null` for `--help`
 * @throws ReplayFault with exit code 2, naming the option
 */
export function parseOptions(argv: readonly string[]): Options | null {
  const { values, positionals } = readFlags(argv, FLAGS)
  if (values.help) return null
  if (positionals.length > 0) throw usage(`Unexpected argument '${positionals[0]}'`)
  if (values.whole && values.from !== undefined) throw usage('--whole and --from exclude each other.')
  if (values.url === undefined)
    for (const flag of ['token', 'ca'] as const)
      if (values[flag] !== undefined) throw usage(`--${flag} belongs to --url.`)
  return {
    pilgrims: wholeOf('--pilgrims', values.pilgrims, 1, 1_000_000),
    speed: values.speed === undefined ? null : numberOf('--speed', values.speed, 1, 1e9),
    seed: wholeOf('--seed', values.seed, 0, 0x7fffffff),
    from: values.whole
      ? 'whole'
      : values.from === undefined
        ? null
        : numberOf('--from', values.from, 0, LAST_HOUR),
    maxPoints: values.points === undefined ? Infinity : wholeOf('--points', values.points, 1, 1e9),
    pointsOnly: values['points-only'],
    exits: values.exit,
    url: values.url === undefined ? null : urlOf(values.url),
    token: values.token ?? null,
    ca: values.ca ?? null,
    insecure: values.insecure,
  }
}
