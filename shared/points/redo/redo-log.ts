/**
 * The redo log: the submissions that the kv has admitted, until Postgres has their points. A kv that has lost its last
 * writes, in a failover or with its disk, is given them again (`redo.ts`).
 *
 * Its files are written without a sync, so no answer waits for them: a point is lost only when the kv's machine and the
 * process's machine end between the same two flushes.
 */
import { createReadStream, mkdirSync, readdirSync, rmSync, statfsSync, statSync } from 'node:fs'
import { appendFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Submission } from '#shared/stores/kv/kv.ts'
import { type Elapsed, isRecent, machineNow, type StartStopwatch } from '#shared/runtime/clock.ts'
import { errorFields, type Log } from '#shared/runtime/log.ts'

/** A file holds the submissions of so long. */
const SEGMENT_MS = 15_000
/** Submissions wait in memory for so long before they are written. */
const WRITE_AFTER_MS = 200
/** With more bytes in memory the disk does not keep up, and submissions are left out. */
const MEMORY_BYTES = 16_777_216
/** Bytes of a process's files, and the free bytes that they leave on the disk for the journal. */
const MOST_BYTES = 1_073_741_824
const FREE_BYTES = 536_870_912
/** The files of a process that has ended are read, and deleted after this time. */
const ABANDONED_MS = 3_600_000
const SUFFIX = '.redo'

/** Where the processes of an installation keep it. */
export const redoDirectory = (dataDir: string): string => join(dataDir, 'redo')

interface Segment {
  readonly path: string
  readonly begun: Elapsed
  /** Since the last write. */
  written: Elapsed
  bytes: number
}

interface RedoLogOptions {
  /** A directory that processes may share. */
  readonly dir: string
  readonly stopwatch: StartStopwatch
  readonly log: Log
}

export type RedoLog = ReturnType<typeof openRedoLog>

export function openRedoLog({ dir, stopwatch, log }: RedoLogOptions) {
  mkdirSync(dir, { recursive: true, mode: 0o700 })
  const name = crypto.randomUUID()
  const segments: Segment[] = []
  let begun = 0
  let waiting: string[] = []
  let waitingBytes = 0
  let leftOut = 0
  let writing: Promise<void> | null = null
  let timer: Timer | undefined
  let isFailing = false

  const bytes = (): number => segments.reduce((sum, segment) => sum + segment.bytes, 0)
  const removeFirst = (): void => rmSync(segments.shift()!.path, { force: true })

  /** The file to write to. Before a new one is begun, the oldest ones make room on the disk if there is none. */
  function current(): Segment {
    const last = segments.at(-1)
    if (last !== undefined && last.begun() < SEGMENT_MS) return last
    while (segments.length > 0 && (bytes() > MOST_BYTES || freeBytes(dir) < FREE_BYTES)) removeFirst()
    const elapsed = stopwatch()
    const next = {
      path: join(dir, `${name}-${begun++}${SUFFIX}`),
      begun: elapsed,
      written: elapsed,
      bytes: 0,
    }
    segments.push(next)
    return next
  }

  async function writeWaiting(): Promise<void> {
    if (waiting.length === 0) return
    const [lines, size] = [waiting, waitingBytes]
    ;[waiting, waitingBytes] = [[], 0]
    try {
      const segment = current()
      await appendFile(segment.path, lines.join(''), { mode: 0o600 })
      segment.written = stopwatch()
      segment.bytes += size
      isFailing = false
    } catch (error) {
      leftOut += lines.length
      if (!isFailing)
        log.error('writing the redo log failed; what the kv loses now is lost', errorFields(error))
      isFailing = true
    }
  }

  /** Writes what waits in memory, after a write that is under way. */
  async function write(): Promise<void> {
    while (writing !== null) await writing
    writing = writeWaiting().finally(() => (writing = null))
    await writing
  }

  function writeSoon(): void {
    timer ??= setTimeout(() => {
      timer = undefined
      if (writing === null) void write()
      else writeSoon()
    }, WRITE_AFTER_MS)
  }

  return {
    /** Notes a submission that the kv has admitted. */
    add(submission: Submission): void {
      if (waitingBytes >= MEMORY_BYTES) {
        leftOut++
        return
      }
      const line = `${JSON.stringify(submission)}\n`
      waiting.push(line)
      waitingBytes += line.length
      writeSoon()
    },
    /**
     * What this and other processes have noted in the directory.
     * @param points of a page; the last submission of a page may have more
     */
    async *pages(points: number): AsyncGenerator<Submission[]> {
      await write()
      for (const file of readdirSync(dir))
        if (file.endsWith(SUFFIX)) yield* readPages(join(dir, file), points)
    },
    /** Deletes what was noted more than `ageMs` ago, and what ended processes have left. */
    forget(ageMs: number): void {
      while (segments.length > 0 && segments[0]!.written() > ageMs) removeFirst()
      for (const file of readdirSync(dir))
        if (!file.startsWith(name) && isAbandoned(join(dir, file))) rmSync(join(dir, file), { force: true })
    },
    write,
    /** Bytes of this process's files. */
    bytes,
    /** Submissions that are not in the log: the disk was full, failed, or did not keep up. */
    leftOut: () => leftOut,
    /** Leaves the files: the next process reads them, too. */
    async close(): Promise<void> {
      clearTimeout(timer)
      await write()
    },
  }
}

const freeBytes = (dir: string): number => {
  const { bavail, bsize } = statfsSync(dir)
  return bavail * bsize
}

function isAbandoned(path: string): boolean {
  const stat = statSync(path, { throwIfNoEntry: false })
  return stat !== undefined && path.endsWith(SUFFIX) && !isRecent(stat.mtimeMs, machineNow(), ABANDONED_MS)
}

/** The submissions of a file. It may be deleted meanwhile, and its last line may be cut short. */
async function* readPages(path: string, points: number): AsyncGenerator<Submission[]> {
  let page: Submission[] = []
  let held = 0
  try {
    for await (const line of createInterface({ input: createReadStream(path) })) {
      const submission = parsed(line)
      if (submission === null) continue
      page.push(submission)
      held += submission.entries.length
      if (held < points) continue
      yield page
      ;[page, held] = [[], 0]
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
  if (page.length > 0) yield page
}

function parsed(line: string): Submission | null {
  try {
    return JSON.parse(line) as Submission
  } catch {
    return null
  }
}
