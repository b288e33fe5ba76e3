/** The embedded run's self-signed certificate, created at the first start. */
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { X509Certificate } from 'node:crypto'
import { generate } from 'selfsigned'

const DAY_MS = 86_400_000
const VALID_DAYS = 825
/** A certificate that expires sooner is replaced. */
const RENEW_DAYS = 30

export interface Certificate {
  readonly cert: string
  readonly key: string
}

/** Reads the certificate of a data directory, or creates one for localhost and the loopback addresses. */
export async function openCertificate(dataDir: string): Promise<Certificate> {
  const dir = join(dataDir, 'tls')
  const certFile = join(dir, 'cert.pem')
  const keyFile = join(dir, 'key.pem')
  if (existsSync(certFile) && existsSync(keyFile)) {
    const cert = readFileSync(certFile, 'utf8')
    const ends = new X509Certificate(cert).validToDate.getTime()
    if (ends - Date.now() > RENEW_DAYS * DAY_MS) return { cert, key: readFileSync(keyFile, 'utf8') }
  }
  const made = await generate([{ name: 'commonName', value: 'localhost' }], {
    notAfterDate: new Date(Date.now() + VALID_DAYS * DAY_MS),
    keyType: 'ec',
    algorithm: 'sha256',
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      {
        name: 'subjectAltName',
        altNames: [
          { type: 2, value: 'localhost' },
          { type: 7, ip: '127.0.0.1' },
          { type: 7, ip: '::1' },
        ],
      },
    ],
  })
  mkdirSync(dir, { recursive: true, mode: 0o700 })
  writeFileSync(keyFile, made.private, { mode: 0o600 })
  writeFileSync(certFile, made.cert)
  chmodSync(keyFile, 0o600)
  return { cert: made.cert, key: made.private }
}
