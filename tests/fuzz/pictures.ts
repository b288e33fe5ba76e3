/** Pictures to upload: valid ones, and ones with changed, removed or added bytes. */
import fc from 'fast-check'

/** 1 × 1 pixels of each format, and other content. */
const PICTURES = [
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  '/9j/4AAQSkZJRgABAQEASABIAAD/2wBDAAMCAgICAgMCAgIDAwMDBAYEBAQEBAgGBgUGCQgKCgkICQkKDA8MCgsOCwkJDRENDg8QEBEQCgwSExIQEw8QEBD/yQALCAABAAEBAREA/8wABgAQEAX/2gAIAQEAAD8A0s8g/9k=',
  'UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA',
  'R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7',
  Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><image href="http://127.0.0.1:1/"/></svg>').toString(
    'base64',
  ),
].map((text) => Buffer.from(text, 'base64'))

export const picture: fc.Arbitrary<Buffer> = fc
  .record({
    whole: fc.constantFrom(...PICTURES),
    flips: fc.array(fc.tuple(fc.nat(200), fc.integer({ min: 0, max: 255 })), { maxLength: 4 }),
    length: fc.oneof({ weight: 3, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: fc.nat(200) }),
    tail: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(5_000) }),
  })
  .map(({ whole, flips, length, tail }) => {
    const bytes = Buffer.concat([whole, Buffer.alloc(tail, 0x41)])
    for (const [at, byte] of flips) bytes[at % bytes.length] = byte
    return length === null ? bytes : bytes.subarray(0, length)
  })

const NAMES = [
  'file',
  'image',
  '',
  '"',
  '__proto__',
  'file"; filename="b',
  'x'.repeat(3_000),
  '\r\nX-A: b',
  '檔案',
]
const FILES = [
  'a.png',
  '../../etc/passwd',
  'a.png\u0000.sh',
  '',
  'a".png',
  '\r\nContent-Type: text/html',
  'CON',
  '😀.png',
]

/** Forms as browsers send them, and forms with a wrong boundary, header or end. */
export const multipart: fc.Arbitrary<{ readonly bytes: Buffer; readonly type: string }> = fc
  .record({
    parts: fc.array(
      fc.record({
        name: fc.constantFrom(...NAMES),
        file: fc.option(fc.constantFrom(...FILES)),
        bytes: picture,
      }),
      { maxLength: 3 },
    ),
    boundary: fc.constantFrom('b', '----WebKitFormBoundary7MA4YWxk', '"', 'b b', '', 'x'.repeat(200)),
    announced: fc.oneof(
      { weight: 5, arbitrary: fc.constant(null) },
      { weight: 1, arbitrary: fc.constantFrom('other', '', 'b"') },
    ),
    end: fc.constantFrom('--\r\n', '--', '', '\r\n'),
  })
  .map(({ parts, boundary, announced, end }) => ({
    bytes: Buffer.concat([
      ...parts.flatMap(({ name, file, bytes }) => [
        Buffer.from(
          `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${file === null ? '' : `; filename="${file}"`}\r\n\r\n`,
        ),
        bytes,
        Buffer.from('\r\n'),
      ]),
      Buffer.from(`--${boundary}${end}`),
    ]),
    type: `multipart/form-data; boundary=${announced ?? boundary}`,
  }))
