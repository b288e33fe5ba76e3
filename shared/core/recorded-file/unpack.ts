/** Unpacks gzip files and zip archives (also KMZ) that hold one recording. */

/** The archive cannot be used. */
export class PackedFault extends Error {
  constructor(
    readonly code: 'damaged-archive' | 'nothing-inside' | 'several-inside' | 'too-large',
    /** Recordings inside an archive. */
    readonly inside = 0,
  ) {
    super(code)
  }
}

/** Ten days at one point per second are about 100 MB. An archive that exceeds this is a zip bomb. */
const MAX_BYTES = 128 * 1024 * 1024
/** A gzip file inside a zip archive, plus one level. */
const MAX_LEVELS = 3

const RECORDING = /\.(gpx|kml|tcx)(\.gz)?$/i

/**
 * Returns the content of a packed file; other bytes are returned unchanged.
 * @param maxBytes of the content
 * @throws PackedFault
 */
export async function unpack(bytes: Uint8Array, maxBytes = MAX_BYTES): Promise<Uint8Array> {
  let content = bytes
  for (let level = 0; level < MAX_LEVELS; level++) {
    if (content[0] === 0x1f && content[1] === 0x8b) content = await inflate(content, 'gzip', maxBytes)
    else if (startsWith(content, 0x04034b50) || startsWith(content, 0x06054b50))
      content = await unzip(content, maxBytes)
    else break
  }
  if (content.length > maxBytes) throw new PackedFault('too-large')
  return content
}

const viewOf = ({ buffer, byteOffset, byteLength }: Uint8Array): DataView =>
  new DataView(buffer, byteOffset, byteLength)

const startsWith = (bytes: Uint8Array, signature: number): boolean =>
  bytes.length >= 4 && viewOf(bytes).getUint32(0, true) === signature

async function inflate(
  packed: Uint8Array,
  format: 'gzip' | 'deflate-raw',
  maxBytes: number,
): Promise<Uint8Array> {
  const stream = new Blob([packed as Uint8Array<ArrayBuffer>])
    .stream()
    .pipeThrough(new DecompressionStream(format))
  const chunks: Uint8Array<ArrayBuffer>[] = []
  let length = 0
  const reader = stream.getReader()
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      chunks.push(next.value)
      length += next.value.length
      if (length > maxBytes) throw new PackedFault('too-large')
    }
  } catch (error) {
    // Otherwise the stream would go on unpacking.
    void reader.cancel().catch(() => undefined)
    throw error instanceof PackedFault ? error : new PackedFault('damaged-archive')
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer())
}

// The format: PKWARE, APPNOTE.TXT 6.3.10, sections 4.3.7 (local header), 4.3.12 (directory) and 4.3.16 (its end).

const DIRECTORY_END = 0x06054b50
const DIRECTORY_END_BYTES = 22
const DIRECTORY_ENTRY = 0x02014b50
const DIRECTORY_ENTRY_BYTES = 46
const LOCAL_HEADER_BYTES = 30
const ENCRYPTED = 1
const STORED = 0
const DEFLATED = 8

interface ZipEntry {
  readonly name: string
  readonly flags: number
  readonly method: number
  readonly packedBytes: number
  readonly headerAt: number
}

async function unzip(archive: Uint8Array, maxBytes: number): Promise<Uint8Array> {
  const recordings = entriesOf(archive).filter(({ name }) => RECORDING.test(name) && !isHidden(name))
  const [entry] = recordings
  if (entry === undefined) throw new PackedFault('nothing-inside')
  if (recordings.length > 1) throw new PackedFault('several-inside', recordings.length)
  const view = viewOf(archive)
  const { flags, method, packedBytes, headerAt } = entry
  if ((flags & ENCRYPTED) !== 0 || headerAt + LOCAL_HEADER_BYTES > archive.length)
    throw new PackedFault('damaged-archive')
  const from =
    headerAt + LOCAL_HEADER_BYTES + view.getUint16(headerAt + 26, true) + view.getUint16(headerAt + 28, true)
  const packed = archive.subarray(from, from + packedBytes)
  if (packed.length < packedBytes) throw new PackedFault('damaged-archive')
  if (method === STORED) return packed
  if (method === DEFLATED) return inflate(packed, 'deflate-raw', maxBytes)
  throw new PackedFault('damaged-archive')
}

/** Metadata that macOS adds for each file. */
const isHidden = (name: string): boolean => /(^|\/)(__MACOSX\/|\.)/.test(name)

function entriesOf(archive: Uint8Array): ZipEntry[] {
  const view = viewOf(archive)
  let end = archive.length - DIRECTORY_END_BYTES
  // A comment of up to 65,535 bytes may follow it.
  while (end >= 0 && view.getUint32(end, true) !== DIRECTORY_END) end--
  if (end < 0) throw new PackedFault('damaged-archive')
  const entries: ZipEntry[] = []
  let at = view.getUint32(end + 16, true)
  for (let left = view.getUint16(end + 10, true); left > 0; left--) {
    if (at + DIRECTORY_ENTRY_BYTES > archive.length || view.getUint32(at, true) !== DIRECTORY_ENTRY)
      throw new PackedFault('damaged-archive')
    const nameAt = at + DIRECTORY_ENTRY_BYTES
    const nameBytes = view.getUint16(at + 28, true)
    entries.push({
      name: new TextDecoder().decode(archive.subarray(nameAt, nameAt + nameBytes)),
      flags: view.getUint16(at + 8, true),
      method: view.getUint16(at + 10, true),
      packedBytes: view.getUint32(at + 20, true),
      headerAt: view.getUint32(at + 42, true),
    })
    at = nameAt + nameBytes + view.getUint16(at + 30, true) + view.getUint16(at + 32, true)
  }
  return entries
}
