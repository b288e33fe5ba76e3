/**
 * The redo log: the submissions that the kv has admitted, until Postgres has their points. A kv that lost its last
 * writes, in a failover or with its disk, gets them back from this log (`redo.ts`).
 *
 * Its files are written without a sync, so that no answer waits for them: a point is lost only when the kv's machine
 * and the process's machine fail between the same two flushes.
 */
import {
  createReadStream,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { appendFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Submission } from '#shared/stores/kv/kv.ts'
import { type Elapsed, isRecent, machineNow, type StartStopwatch } from '#shared/runtime/clock.ts'
import { errorFields, type Log } from '#shared/runtime/log.ts'

/** Period covered by one file. */
const SEGMENT_MS = 15_000
/** Submissions are written after at most this time in memory. */
const WRITE_AFTER_MS = 200
/** If more bytes are in memory, the disk is too slow, and submissions are dropped from the log. */
const MEMORY_BYTES = 16_777_216
/** Maximum bytes of a process's files, and the free bytes that they leave on the disk for the journal. */
const MOST_BYTES = 1_073_741_824
const FREE_BYTES = 536_870_912
/** Files of ended processes are read, and deleted after this time, unless Postgres still lacks their points. */
const ABANDONED_MS = 3_600_000
const SUFFIX = '.redo'
const KV_FILE = 'kv.json'

/** Directory of the redo log in an installation. */
export const redoDirectory = (dataDir: string): string => join(dataDir, 'redo')

/** The kv whose points the log would restore. */
export interface KnownKv {
  readonly servers: readonly string[]
  readonly epochs: readonly (readonly [partition: number, epoch: string])[]
}

interface Segment {
  path: string
  readonly begun: Elapsed
  /** Time since the last write. */
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
  let eventSuffix = SUFFIX

  const bytes = (): number => segments.reduce((sum, segment) => sum + segment.bytes, 0)
  const removeFirst = (): void => rmSync(segments.shift()!.path, { force: true })

  /** The file to write to. A new file first deletes the oldest ones if the limit or the disk space requires it. */
  function current(): Segment {
    const last = segments.at(-1)
    if (last !== undefined && last.begun() < SEGMENT_MS) return last
    while (segments.length > 0 && (bytes() > MOST_BYTES || freeBytes(dir) < FREE_BYTES)) removeFirst()
    const elapsed = stopwatch()
    const next = {
      path: join(dir, `${name}-${begun++}${eventSuffix}`),
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

  /** Writes the submissions in memory, after a write in progress. */
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
    /** Names the event in this process's files. */
    async identify(eventId: string): Promise<void> {
      while (writing !== null) await writing
      eventSuffix = `.${eventId}${SUFFIX}`
      for (const segment of segments) {
        if (segment.path.endsWith(eventSuffix)) continue
        const path = segment.path.slice(0, -SUFFIX.length) + eventSuffix
        // A segment whose first write failed has no file.
        if (existsSync(segment.path)) renameSync(segment.path, path)
        segment.path = path
      }
    },
    /**
     * Submissions logged by all processes that share the directory, without those of another event, whose files are
     * deleted with age. Files that name no event are read: their process never reached the database, or is of 1.8.0.
     * @param points per page; the last submission of a page may exceed it
     */
    async *pages(points: number): AsyncGenerator<Submission[]> {
      await write()
      for (const file of readdirSync(dir)) {
        if (!file.endsWith(SUFFIX)) continue
        if (file.endsWith(eventSuffix) || file.split('.').length === 2)
          yield* readPages(join(dir, file), points)
        else log.warn('a redo file of another event is set aside', { file })
      }
    },
    /** Deletes entries older than `ageMs`, and the files of ended processes. */
    forget(ageMs: number): void {
      while (segments.length > 0 && segments[0]!.written() > ageMs) removeFirst()
      for (const file of readdirSync(dir))
        if (!file.startsWith(name) && isAbandoned(join(dir, file), ageMs))
          rmSync(join(dir, file), { force: true })
    },
    /** The kv that a process of this directory last knew to have all points; null: not known. */
    knownKv(): KnownKv | null {
      try {
        return JSON.parse(readFileSync(join(dir, KV_FILE), 'utf8')) as KnownKv
      } catch {
        return null
      }
    },
    /** @returns whether it is noted; not on a full disk */
    noteKv(known: KnownKv): boolean {
      const path = join(dir, `${name}-${KV_FILE}`)
      try {
        writeFileSync(path, JSON.stringify(known), { mode: 0o600 })
        renameSync(path, join(dir, KV_FILE))
        return true
      } catch {
        rmSync(path, { force: true })
        return false
      }
    },
    write,
    bytes,
    /** Submissions missing from the log: the disk was full, failed or too slow. */
    leftOut: () => leftOut,
    /** Leaves the files for the next process. */
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

/** @param neededMs how long Postgres may lack the points of a file */
function isAbandoned(path: string, neededMs: number): boolean {
  const stat = statSync(path, { throwIfNoEntry: false })
  return (
    stat !== undefined &&
    path.endsWith(SUFFIX) &&
    !isRecent(stat.mtimeMs, machineNow(), Math.max(ABANDONED_MS, neededMs))
  )
}

/** The submissions of a file. The file may be deleted meanwhile, and its last line may be truncated. */
async function* readPages(path: string, points: number): AsyncGenerator<Submission[]> {
  let page: Submission[] = []
  let pagePoints = 0
  try {
    for await (const line of createInterface({ input: createReadStream(path) })) {
      const submission = parsed(line)
      if (submission === null) continue
      page.push(submission)
      pagePoints += submission.entries.length
      if (pagePoints < points) continue
      yield page
      ;[page, pagePoints] = [[], 0]
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
