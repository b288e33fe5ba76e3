/** Calls of the service as made by a phone: failed calls are repeated for a while. */
import { X509Certificate } from 'node:crypto'
import { join } from 'node:path'
import type { Answer, ClientError } from '#shared/client/answer.ts'
import { backoffMs, isTemporary } from '#shared/client/request-backoff.ts'

/** An error that ends a command: a sentence that says what to do. */
export class ReplayFault extends Error {}

/** Attempts for a request. Repeating one is safe, because the service counts a point once. */
const TRIES = 8

/** Advice for a refusal, by its code. */
const ADVICE: Readonly<Record<string, string>> = {
  paused: 'Resume the event, or wait until it is resumed.',
  ended: 'An ended event takes no more points: rehearse on a run of its own.',
  unauthorized: 'The service verifies who calls: replay works where EVENT_IDENTITY is open.',
  forbidden: 'The service verifies who calls: replay works where EVENT_IDENTITY is open.',
  'not-found': 'Check --url and --user.',
  'invalid-request': 'If it is about the time: --ends or --keep-time puts the track elsewhere.',
  network: 'Check --url, and that the service runs there (bun start).',
  timeout: 'Check --url and the network.',
  unexpected: 'Check --url.',
}

const isAboutCertificate = ({ cause }: ClientError): boolean =>
  /CERT|VERIFY|HOSTNAME/.test(String((cause as { readonly code?: unknown } | undefined)?.code))

function sentenceOf(url: string, error: ClientError): string {
  const { status, code, message, requestId } = error
  if (isAboutCertificate(error))
    return (
      `The certificate of ${url} is not trusted (${message}) Name its authority with --ca <file>; the embedded run ` +
      'keeps its own in <data directory>/tls/cert.pem. For a rehearsal only: --insecure.'
    )
  const answer = status === 0 ? message : `The service answers ${status}: ${message.replace(/[.\s]*$/, '.')}`
  return [`${url}: ${answer}`, ADVICE[code], requestId && `(request ${requestId})`].filter(Boolean).join(' ')
}

/**
 * Makes a call until it succeeds, and waits between the attempts as long as the service asks.
 * @param wait waits, and shows the reason
 * @throws ReplayFault for a permanent refusal, or after the last attempt
 */
export async function persist<T>(
  url: string,
  call: () => Promise<Answer<T>>,
  wait: (ms: number, why: string) => Promise<void>,
): Promise<T> {
  for (let failures = 0; ; failures++) {
    const answer = await call()
    if (answer.ok) return answer.data
    const { error } = answer
    const sentence = sentenceOf(url, error)
    if (!isTemporary(error) || isAboutCertificate(error)) throw new ReplayFault(sentence)
    if (failures + 1 === TRIES) throw new ReplayFault(`Given up after ${TRIES} tries. ${sentence}`)
    // Without a minimum wait this would be a busy loop.
    await wait(backoffMs(failures, Math.max(1, error.retryAfter ?? 0), 0), sentence)
  }
}

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]'])

/**
 * The TLS settings for a service: from `--insecure` or `--ca`; on this machine the certificate of the embedded run;
 * otherwise the authorities of the system.
 * @throws ReplayFault if the file of `--ca` has no valid certificate
 */
export async function trustFor(
  { url, ca, insecure }: { readonly url: string; readonly ca: string | null; readonly insecure: boolean },
  dataDir: string,
): Promise<Bun.TLSOptions> {
  if (insecure) return { rejectUnauthorized: false }
  const own = join(dataDir, 'tls', 'cert.pem')
  const isOwn = LOOPBACK.has(new URL(url).hostname) && (await Bun.file(own).exists())
  const path = ca ?? (isOwn ? own : null)
  if (path === null) return {}
  try {
    const pem = await Bun.file(path).text()
    // Parsed only for validation: fetch would report an invalid file as a connection error.
    void new X509Certificate(pem)
    return { ca: pem }
  } catch (error) {
    throw new ReplayFault(
      `${path} holds no certificate that can be read (${(error as Error).message}). Check --ca.`,
    )
  }
}
