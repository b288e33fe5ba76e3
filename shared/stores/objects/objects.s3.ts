/**
 * The driver for an S3 bucket, based on Bun's client.
 *
 * Single objects use `fetch('s3://…')`. It signs like `Bun.S3Client`, but it can be aborted (the client's own methods
 * wait minutes for a server that hangs), and it returns the bytes and metadata of the same version in one call.
 */
import {
  type ObjectInfo,
  type Objects,
  type S3Settings,
  isObjectKey,
  withTimeout,
  ObjectsUnavailable,
} from './objects.ts'

const TIMEOUT_MS = 10_000
const PROBE_MS = 2_000
const RETRY_AFTER_MS = 100
/** Not a valid key, so it cannot collide with an object or appear in `list`. */
const PROBE_KEY = '~probe'
const PROBE_TEXT = 'objects can be written and read'

interface Place {
  readonly bucket: string
  /** Empty, or ends with `/`. */
  readonly prefix: string
}

type Method = 'GET' | 'HEAD' | 'PUT' | 'DELETE'

interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly bytes: Uint8Array<ArrayBuffer>
}

/** A call including its retry and its body, limited by the signal. Returns a 404 if the object is missing. */
type Call = (method: Method, key: string, signal: AbortSignal, init?: RequestInit) => Promise<Answer>

/**
 * Opens a bucket with a key prefix. Sends no request yet.
 * @throws TypeError if credentials are missing
 */
export function openS3Objects(place: Place, settings: S3Settings): Objects {
  const { timeoutMs = TIMEOUT_MS } = settings
  const s3 = credentials(settings)
  const client = new Bun.S3Client({ ...s3, bucket: place.bucket })
  const call = createCall(place, s3)
  const bound = (): AbortSignal => AbortSignal.timeout(timeoutMs)

  const get: Objects['get'] = async (key) => {
    const answer = await call('GET', key, bound())
    return answer.status === 404
      ? null
      : { ...infoOf(answer), size: answer.bytes.length, bytes: answer.bytes }
  }

  return {
    async put(key, body, { contentType }) {
      const { headers } = await call('PUT', key, bound(), { body, headers: { 'content-type': contentType } })
      return { etag: etagOf(headers) }
    },
    get,
    async head(key) {
      const answer = await call('HEAD', key, bound())
      // A 404 to HEAD has no body, so only GET shows whether the object or the whole bucket is missing.
      return answer.status === 404 ? await get(key) : infoOf(answer)
    },
    async delete(key) {
      await call('DELETE', key, bound())
    },
    list: (wanted) => keysOf(client, place.prefix, wanted, timeoutMs),
    probe: createProbe(call),
    close: () => Promise.resolve(),
  }
}

/**
 * Sets all options, because Bun reads missing ones from the environment. (It still sends a session token from
 * `S3_SESSION_TOKEN` or `AWS_SESSION_TOKEN`; an empty option does not override it.)
 */
function credentials({ endpoint, region, accessKeyId, secretAccessKey }: S3Settings) {
  if (!accessKeyId || !secretAccessKey)
    throw new TypeError('S3 needs S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY')
  return { endpoint: endpoint || `https://s3.${region}.amazonaws.com`, region, accessKeyId, secretAccessKey }
}

function createCall({ bucket, prefix }: Place, s3: Bun.S3Options): Call {
  const send = async (method: Method, key: string, init: RequestInit): Promise<Answer> => {
    const response = await fetch(`s3://${bucket}/${prefix}${key}`, {
      ...init,
      method,
      s3,
      redirect: 'manual',
    })
    const answer = { status: response.status, headers: response.headers, bytes: await response.bytes() }
    if (answer.status === 429 || answer.status >= 500) throw refused(method, answer)
    return answer
  }
  return async (method, key, signal, init = {}) => {
    const answer = await twice(method, () => send(method, key, { ...init, signal }))
    if ((answer.status >= 200 && answer.status < 300) || isMissing(method, answer)) return answer
    throw refused(method, answer)
  }
}

/**
 * Probes the bucket: writes an object and reads it. Later probes only read it until that fails, because a versioned
 * bucket would store every write.
 */
function createProbe(call: Call): () => Promise<void> {
  let written = false
  return async () => {
    const signal = AbortSignal.timeout(PROBE_MS)
    const wasWritten = written
    written = false
    if (!wasWritten) await call('PUT', PROBE_KEY, signal, { body: PROBE_TEXT })
    const { bytes } = await call('GET', PROBE_KEY, signal)
    if (new TextDecoder().decode(bytes) !== PROBE_TEXT)
      throw new ObjectsUnavailable('objects: S3 did not return the probe object')
    written = true
  }
}

async function* keysOf(client: Bun.S3Client, prefix: string, wanted: string, timeoutMs: number) {
  let continuationToken: string | undefined
  do {
    const input = { prefix: `${prefix}${wanted}`, ...(continuationToken && { continuationToken }) }
    const page: Bun.S3ListObjectsResponse = await withTimeout(
      timeoutMs,
      'objects: LIST',
      twice('LIST', () => client.list(input)),
    )
    for (const { key } of page.contents ?? []) {
      const own = key.slice(prefix.length)
      // Ceph's SQLite store treats a prefix as an SQL pattern: it ignores case, and `_` matches any character.
      if (key.startsWith(input.prefix) && isObjectKey(own)) yield own
    }
    continuationToken = page.nextContinuationToken
  } while (continuationToken)
}

/** Retries a failed call once: a pooled connection may have been closed, or a busy server may ask for a retry. */
async function twice<T>(method: Method | 'LIST', call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch {
    await Bun.sleep(RETRY_AFTER_MS)
  }
  try {
    return await call()
  } catch (cause) {
    if (cause instanceof ObjectsUnavailable) throw cause
    throw new ObjectsUnavailable(`objects: ${method} failed on S3`, { cause })
  }
}

const errorCode = ({ bytes }: Answer): string =>
  /<Code>([^<]*)<\/Code>/.exec(new TextDecoder().decode(bytes))?.[1] ?? ''

/** Whether only the object is missing. Other 404s mean a missing bucket or a wrong endpoint. */
const isMissing = (method: Method, answer: Answer): boolean =>
  answer.status === 404 && method !== 'PUT' && (method === 'HEAD' || errorCode(answer) === 'NoSuchKey')

const refused = (method: Method, answer: Answer): ObjectsUnavailable =>
  new ObjectsUnavailable(
    `objects: S3 answered ${`${answer.status} ${errorCode(answer)}`.trim()} to ${method}`,
  )

const etagOf = (headers: Headers): string =>
  (headers.get('etag') ?? '').replace(/^W\//, '').replaceAll('"', '')

const infoOf = ({ headers }: Answer): ObjectInfo => ({
  contentType: headers.get('content-type') ?? 'application/octet-stream',
  etag: etagOf(headers),
  modifiedAt: new Date(headers.get('last-modified') ?? 0),
  size: Number(headers.get('content-length')),
})
