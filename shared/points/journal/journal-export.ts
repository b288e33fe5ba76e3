/**
 * Exports journals to a backup. Each process locks its journal file, so a backup writes a request file into the shared
 * directory, and each process answers with a copy of its entries. An unlocked file is read directly.
 */
import type { Database } from 'bun:sqlite'
import { createReadStream, existsSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { appendFile, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { machineNow } from '#shared/runtime/clock.ts'
import type { Submission } from '#shared/stores/kv/kv.ts'
import { readLines } from '#shared/runtime/read-lines.ts'
import { errorFields, type Log, LoggableError } from '#shared/runtime/log.ts'
import { type Journal, openAbandoned, readPage, SUFFIX } from './journal.ts'

const PAGE = 500
const POLL_MS = 100
/** Each process looks for request files once a second. */
const TIMEOUT_MS = 20_000
/** Files of a killed backup are deleted after this time: they hold personal data, also of erased pilgrims. */
const LEFTOVER_MAX_MS = 3_600_000
const REQUEST = '.asked'
const COPY = '.copy'

const copyOf = (journal: string, id: string): string => `${journal}.${id}${COPY}`

/** @returns a function that answers all request files; its calls do not overlap */
export function createJournalExport(journal: Journal, log: Log): () => Promise<void> {
  let answering: Promise<void> | null = null
  return () =>
    (answering ??= answer(journal)
      .catch((error: unknown) => log.error('exporting the journal to a backup failed', errorFields(error)))
      .finally(() => (answering = null)))
}

async function answer(journal: Journal): Promise<void> {
  sweep(dirname(journal.path))
  for (const name of readdirSync(dirname(journal.path))) {
    if (!name.endsWith(REQUEST)) continue
    const copy = copyOf(journal.path, name.slice(0, -REQUEST.length))
    if (existsSync(copy)) continue
    const unfinished = `${copy}.unfinished`
    writeFileSync(unfinished, '', { mode: 0o600 })
    let page = journal.after(0, PAGE)
    // An entry that leaves the journal meanwhile is in the kv, which a backup reads after the journals.
    for (; page.length > 0; page = journal.after(page.at(-1)!.place, PAGE))
      await appendFile(unfinished, page.map(({ submission }) => `${JSON.stringify(submission)}\n`).join(''))
    await rename(unfinished, copy)
  }
}

/**
 * Reads all entries that are in the journals of a directory at the time of the call, each at least once.
 * @throws when a process does not export its journal in time, or a journal is damaged
 */
export async function* collectJournals(dir: string, timeoutMs = TIMEOUT_MS): AsyncGenerator<Submission[]> {
  if (!existsSync(dir)) return
  sweep(dir)
  for (;;) {
    const id = crypto.randomUUID()
    const request = join(dir, `${id}${REQUEST}`)
    writeFileSync(request, '', { mode: 0o600 })
    try {
      if (yield* collectOnce(dir, id, timeoutMs)) return
    } finally {
      rmSync(request, { force: true })
      for (const name of readdirSync(dir))
        if (name.includes(`.${id}${COPY}`)) rmSync(join(dir, name), { force: true })
    }
  }
}

/** @returns false when a file has disappeared: its adopter may have exported its own journal before the adoption */
async function* collectOnce(
  dir: string,
  id: string,
  timeoutMs: number,
): AsyncGenerator<Submission[], boolean> {
  const pending = new Set(readdirSync(dir).filter((name) => name.endsWith(SUFFIX)))
  const until = performance.now() + timeoutMs
  let gone = false
  while (pending.size > 0) {
    for (const name of pending) {
      const path = join(dir, name)
      const copy = copyOf(path, id)
      if (existsSync(copy)) yield* readCopy(copy)
      else if (existsSync(path)) {
        const abandoned = openAbandoned(path)
        if (abandoned === null) continue
        yield* readAbandoned(abandoned)
      } else gone = true
      pending.delete(name)
    }
    if (pending.size > 0 && performance.now() > until)
      throw new LoggableError(
        `The process that locks the journal ${[...pending].map((name) => basename(name)).join(', ')} does not ` +
          'export its entries. Check whether it is frozen or runs an older release.',
      )
    if (pending.size > 0) await Bun.sleep(POLL_MS)
  }
  return !gone
}

async function* readCopy(path: string): AsyncGenerator<Submission[]> {
  let page: Submission[] = []
  for await (const line of readLines(createReadStream(path))) {
    page.push(JSON.parse(line.toString('utf8')) as Submission)
    if (page.length === PAGE) yield page.splice(0)
  }
  if (page.length > 0) yield page
}

function* readAbandoned(abandoned: Database): Generator<Submission[]> {
  try {
    let page = readPage(abandoned, 0, PAGE)
    for (; page.length > 0; page = readPage(abandoned, page.at(-1)!.place, PAGE))
      yield page.map(({ submission }) => JSON.parse(submission) as Submission)
  } finally {
    abandoned.close()
  }
}

/** Removes leftover files of killed backups. */
function sweep(dir: string): void {
  for (const name of readdirSync(dir)) {
    if (!name.endsWith(REQUEST) && !name.includes(COPY)) continue
    const path = join(dir, name)
    if (machineNow() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0) > LEFTOVER_MAX_MS)
      rmSync(path, { force: true })
  }
}

/** Deletes the journals of a directory and their counter files. @throws when a process still locks one of them */
export async function deleteJournals(dir: string): Promise<void> {
  if (!existsSync(dir)) return
  for (const name of readdirSync(dir).filter((name) => name.endsWith(SUFFIX))) {
    const abandoned = openAbandoned(join(dir, name))
    if (abandoned === null)
      throw new LoggableError(`A process still uses the journal ${name}. Stop all services first.`)
    abandoned.close()
    await rm(join(dir, name), { force: true })
  }
  for (const name of readdirSync(dir).filter((name) => name.endsWith('.counters'))) await rm(join(dir, name))
}
