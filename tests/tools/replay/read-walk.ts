/** Reads the recorded walk of a file. */
import {
  type RecordedFile,
  type RecordedFileFault,
  readRecordedFile,
} from '#shared/core/recorded-file/read-recorded-file.ts'
import { ReplayFault } from './phone.ts'

/** @throws ReplayFault if there is no such file, or it contains no walk that can be replayed */
export async function readWalk(path: string): Promise<RecordedFile> {
  const file = await Bun.file(path)
    .bytes()
    .catch((error: Error) => {
      throw new ReplayFault(`The file cannot be read: ${error.message}`)
    })
  const read = await readRecordedFile(file)
  if (!read.ok) throw new ReplayFault(sentenceOf(read))
  return read
}

function sentenceOf(fault: RecordedFileFault): string {
  switch (fault.code) {
    case 'empty':
      return 'The file is empty.'
    case 'too-large':
      return 'The file is, or unpacks to, more than 128 MB: export fewer days.'
    case 'damaged-archive':
      return 'The packed file is cut short, encrypted or damaged. Export it again, or unpack it first.'
    case 'nothing-inside':
      return 'The archive holds no GPX, KML or TCX file.'
    case 'several-inside':
      return `The archive holds ${fault.count} recordings: unpack it, and send one after the other.`
    case 'not-xml':
      return `The file is not well-formed XML, perhaps cut short (line ${fault.line}: ${fault.reason}). Export it again.`
    case 'unknown-format':
      return fault.root === null
        ? 'The file is not GPX, KML or TCX. Export the track as GPX.'
        : `The file is not GPX, KML or TCX: its root element is <${fault.root}>. Export the track as GPX.`
    case 'no-track':
      return 'The file has no track points: export the recorded track, not a route.'
    case 'no-times':
      return `None of the ${fault.count} track points has both a time and a place: record the track, do not draw it.`
    case 'outside-period':
      return 'None of the track points has a plausible time.'
  }
}
