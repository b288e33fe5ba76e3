/** The command line of `bun run demo`. */
import { readCommandLine } from '#shared/runtime/command-line.ts'
import { createOptionChecks } from '#tests/helpers/option-checks.ts'

const USAGE = `Walks a pilgrimage with an invented crowd: from Baishatun to Beigang and back, in eight days.
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
  --own-route         walk the route of --url's event, as its owner has set it, in place of the demo's
  --token <token>     an operator's token for --url, to show the service's figures. Or: EVENT_VOLUNTEER_TOKEN
  --ca <file>         certificate (PEM) of the authority to trust for --url
  --insecure          trust any certificate
  --help              this text

The own service listens on EVENT_PORT (8443). Its data is in a new temporary directory and removed at the end, or in
EVENT_DATA_DIR and kept; an EVENT_DATA_DIR with other data than a demo's is refused. With --url, people use LINE only if
LINE_CHANNEL_SECRET is that of the service.

Points lie in the past: when the crowd has caught up with the present, it walks on in real time. Ctrl-C ends it.
Exit codes: 0 ended or stopped, 1 failed, 2 wrong command line.`

export type Options = ReturnType<typeof readOptions>

/** The end of the walk, hours. */
const LAST_HOUR = 191

/** Reads the command line; a wrong one ends the process with exit code 2. */
export function readOptions() {
  const { values } = readCommandLine(USAGE, {
    pilgrims: { type: 'string', default: '500' },
    speed: { type: 'string' },
    seed: { type: 'string', default: '1' },
    from: { type: 'string' },
    whole: { type: 'boolean', default: false },
    points: { type: 'string' },
    'points-only': { type: 'boolean', default: false },
    exit: { type: 'boolean', default: false },
    url: { type: 'string' },
    'own-route': { type: 'boolean', default: false },
    token: { type: 'string' },
    ca: { type: 'string' },
    insecure: { type: 'boolean', default: false },
  })
  const { pilgrims, speed, seed, from, whole, points, url, token, ca } = values
  const check = createOptionChecks(USAGE)
  check.exclude(whole, from !== undefined, '--whole and --from')
  if (url === undefined && token !== undefined) check.refuse('--token belongs to --url.')
  if (url === undefined && values['own-route']) check.refuse('--own-route belongs to --url.')
  if (url === undefined && ca !== undefined) check.refuse('--ca belongs to --url.')
  return {
    pilgrims: check.whole('--pilgrims', pilgrims, 1, 1_000_000),
    /** Null: fast enough that the crowd soon reaches the present. */
    speed: speed === undefined ? null : check.number('--speed', speed, 1, 1e9),
    seed: check.whole('--seed', seed, 0, 0x7fffffff),
    /** Hours since the departure, `whole`, or the default. */
    from: whole ? ('whole' as const) : from === undefined ? null : check.number('--from', from, 0, LAST_HOUR),
    maxPoints: points === undefined ? Infinity : check.whole('--points', points, 1, 1e9),
    pointsOnly: values['points-only'],
    exits: values.exit,
    /** Null: the demo's own service. */
    url: url === undefined ? null : check.url('--url', url),
    ownRoute: values['own-route'],
    token: token ?? null,
    ca: ca ?? null,
    insecure: values.insecure,
  }
}
