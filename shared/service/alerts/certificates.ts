/** When the certificates of the public hosts end, as a phone sees them. The scheduler reads them for all services. */
import { isIP } from 'node:net'
import { connect } from 'node:tls'
import type { ServiceContext } from '#shared/service/context.ts'
import type { Config } from '#shared/runtime/config/config.ts'
import type { KvKeys } from '#shared/stores/kv/kv.ts'
import { type Repeated, repeated } from '#shared/stores/repeated-work.ts'
import { isRecent } from '#shared/runtime/clock.ts'
import { errorFields } from '#shared/runtime/log.ts'
import { withCheckTimeout } from './health-checks.ts'

const READ_EVERY_MS = 10 * 60_000
/** Time until the first reading, and between attempts while one fails (ms). */
const TRY_EVERY_MS = 5_000
/** A host that cannot be reached for longer is unknown. */
const KNOWN_MS = 3_600_000
export const NOTICE_DAYS = 14
const NOTICE_MS = NOTICE_DAYS * 86_400_000

export interface Certificate {
  readonly expiresMs: number
  /** Time from which a missing renewal needs attention. */
  readonly dueMs: number
}

/** Reads the certificate as a phone sees it. `distrust`: why phones do not trust it. */
export async function readCertificate(
  host: string,
  port: number,
): Promise<Certificate & { readonly distrust: string | null }> {
  // TLS server names are never addresses (RFC 6066, 3).
  const servername = isIP(host) > 0 ? '' : host
  const socket = connect({ host, port, servername, rejectUnauthorized: false })
  try {
    await withCheckTimeout(
      new Promise<void>((resolve, reject) => {
        socket.once('secureConnect', resolve).once('error', reject)
      }),
    )
    const { valid_from, valid_to } = socket.getPeerCertificate()
    const expiresMs = Date.parse(valid_to)
    const lifeMs = expiresMs - Date.parse(valid_from)
    // Caddy's own certificates live for hours, those of some authorities for days.
    const noticeMs = lifeMs > 2 * NOTICE_MS ? NOTICE_MS : lifeMs / 4
    const distrust = socket.authorized ? null : (socket.authorizationError?.toString() ?? 'unknown')
    return { expiresMs, dueMs: expiresMs - noticeMs, distrust }
  } finally {
    socket.destroy()
  }
}

export const publicHosts = ({ publicUrl, aliasHost }: Config): { host: string; port: number }[] => {
  const { protocol, hostname, port } = new URL(publicUrl)
  const hosts = protocol === 'https:' ? [...new Set([hostname, aliasHost || hostname])] : []
  return hosts.map((host) => ({ host, port: Number(port || 443) }))
}

const keyOf = (host: string): string => `certificate:${host}`

/** The certificate of each public host as the scheduler has read it; null: unknown. */
export async function knownCertificates(
  kv: KvKeys,
  config: Config,
): Promise<Readonly<Record<string, Certificate | null>>> {
  const hosts = publicHosts(config).map(async ({ host }) => {
    const cached = await kv.cached(keyOf(host))
    return [host, cached === null ? null : (JSON.parse(cached) as Certificate)] as const
  })
  return Object.fromEntries(await Promise.all(hosts))
}

export function createCertificateReader({ config, kv, log, metrics, now }: ServiceContext): Repeated {
  metrics.figures('event_certificate_due_timestamp_seconds', async () => {
    const known = Object.entries(await knownCertificates(kv, config))
    return Object.fromEntries(
      known.map(([host, certificate]) => [host, (certificate?.dueMs ?? Number.NaN) / 1_000]),
    )
  })
  /** When each host was last read; 0: it could not be read. */
  const readMs = new Map<string, number>()
  return repeated(log, 'reading the certificates failed', TRY_EVERY_MS, () =>
    Promise.all(
      publicHosts(config).map(async ({ host, port }) => {
        const before = readMs.get(host)
        if (before && isRecent(before, now(), READ_EVERY_MS)) return
        const read = await readCertificate(host, port).catch((error: unknown) => {
          if (before !== 0)
            log.info('the certificate of a public host cannot be read', { host, ...errorFields(error) })
          return null
        })
        if (read === null) return void readMs.set(host, 0)
        const { expiresMs, dueMs } = read
        await kv.cache(keyOf(host), JSON.stringify({ expiresMs, dueMs }), KNOWN_MS)
        readMs.set(host, now())
      }),
    ),
  )
}
