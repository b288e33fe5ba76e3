/** Which certificates a replay trusts. */
import { X509Certificate } from 'node:crypto'
import { join } from 'node:path'
import { ReplayFault } from './replay-error.ts'
import type { Options } from './options.ts'

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]'])

/**
 * The TLS settings for a service: `--insecure`, `--ca`, on this machine the certificate that the embedded
 * run made for itself, otherwise the system's authorities.
 * @throws ReplayFault if `--ca` names no certificate
 */
export async function trustFor(
  { url, ca, insecure }: Pick<Options, 'url' | 'ca' | 'insecure'>,
  dataDir: string,
): Promise<Bun.TLSOptions> {
  if (insecure) return { rejectUnauthorized: false }
  if (ca !== null) return { ca: await certificate(ca) }
  const own = join(dataDir, 'tls', 'cert.pem')
  return LOOPBACK.has(new URL(url).hostname) && (await Bun.file(own).exists())
    ? { ca: await certificate(own) }
    : {}
}

async function certificate(path: string): Promise<string> {
  try {
    const pem = await Bun.file(path).text()
    // Parsed only to refuse what is none: fetch would report a bad file as a broken connection.
    void new X509Certificate(pem)
    return pem
  } catch (error) {
    throw new ReplayFault(
      `${path} holds no certificate that can be read (${(error as Error).message}). Check --ca.`,
    )
  }
}
