/** Certificates that a replay trusts. */
import { X509Certificate } from 'node:crypto'
import { join } from 'node:path'
import { ReplayFault } from './replay-error.ts'
import type { Options } from './options.ts'

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]'])

/**
 * The TLS settings for a service: from `--insecure` or `--ca`; on this machine the certificate of the embedded run;
 * otherwise the authorities of the system.
 * @throws ReplayFault if the file of `--ca` has no valid certificate
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
    // Parsed only for validation: fetch would report an invalid file as a connection error.
    void new X509Certificate(pem)
    return pem
  } catch (error) {
    throw new ReplayFault(
      `${path} holds no certificate that can be read (${(error as Error).message}). Check --ca.`,
    )
  }
}
