/**
 * How journals reach a backup. A journal's file is locked by its process, so a backup asks in the directory that
 * they share, and each process writes a copy of its entries there; a file that nobody holds is read as it is.
 */
import { createReadStream, existsSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { appendFile, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { Submission } from '#shared/kv/kv.ts'
import { readLines } from '#shared/runtime/read-lines.ts'
import { errorFields, type Log } from '#shared/runtime/log.ts'
import type { Journal } from './journal.ts'
import { openAbandoned, SUFFIX } from './journal-file.ts'
import { LoggableError } from '#shared/runtime/loggable-error.ts'

const PAGE = 500
const POLL_MS = 100
/** Processes look for those who ask once a second. */
const TIMEOUT_MS = 20_000
/** What a killed backup has left is taken away after this time: it is about people, and some of them are erased. */
const LEFT_MS = 3_600_000
const ASKED = '.asked'
const COPY = '.copy'

const copyOf = (journal: string, id: string): string => `${journal}.${id}${COPY}`

/** @returns a function that answers those who ask; its calls do not overlap */
export function createJournalExport(journal: Journal, log: Log): () => Promise<void> {
  let answering: Promise<void> | null = null
  return () =>
    (answering ??= answer(journal)
      .catch((error: unknown) => log.error('the journal is not handed over to a backup', errorFields(error)))
      .finally(() => (answering = null)))
}

async function answer(journal: Journal): Promise<void> {
  sweep(dirname(journal.path))
  for (const name of readdirSync(dirname(journal.path))) {
    if (!name.endsWith(ASKED)) continue
    const copy = copyOf(journal.path, name.slice(0, -ASKED.length))
    if (existsSync(copy)) continue
    const unfinished = `${copy}.unfinished`
    writeFileSync(unfinished, '', { mode: 0o600 })
    let page = journal.after(0, PAGE)
    // What leaves the journal meanwhile is in the kv, where a backup looks after this.
    for (; page.length > 0; page = journal.after(page.at(-1)!.place, PAGE))
      await appendFile(unfinished, page.map(({ submission }) => `${JSON.stringify(submission)}\n`).join(''))
    await rename(unfinished, copy)
  }
}

/**
 * Everything that waited in the journals of a directory when this was called, each entry at least once.
 * @throws when a journal's process does not hand its entries over, or a journal is damaged
 */
export async function* collectJournals(dir: string, patienceMs = TIMEOUT_MS): AsyncGenerator<Submission[]> {
  if (!existsSync(dir)) return
  sweep(dir)
  for (;;) {
    const id = crypto.randomUUID()
    const asked = join(dir, `${id}${ASKED}`)
    writeFileSync(asked, '', { mode: 0o600 })
    try {
      if (yield* collectOnce(dir, id, patienceMs)) return
    } finally {
      rmSync(asked, { force: true })
      for (const name of readdirSync(dir))
        if (name.includes(`.${id}${COPY}`)) rmSync(join(dir, name), { force: true })
    }
  }
}

/** @returns false when a file is gone meanwhile: whoever has adopted it may have handed over before that */
async function* collectOnce(
  dir: string,
  id: string,
  patienceMs: number,
): AsyncGenerator<Submission[], boolean> {
  const waiting = new Set(readdirSync(dir).filter((name) => name.endsWith(SUFFIX)))
  const until = performance.now() + patienceMs
  let gone = false
  while (waiting.size > 0) {
    for (const name of waiting) {
      const path = join(dir, name)
      const copy = copyOf(path, id)
      if (existsSync(copy)) yield* readCopy(copy)
      else if (existsSync(path)) {
        const entries = readAbandoned(path)
        if (entries === null) continue
        yield entries
      } else gone = true
      waiting.delete(name)
    }
    if (waiting.size > 0 && performance.now() > until)
      throw new LoggableError(
        `The process that holds the journal ${[...waiting].map((name) => basename(name)).join(', ')} does not hand ` +
          'over what waits in it. Is it frozen, or of an older release?',
      )
    if (waiting.size > 0) await Bun.sleep(POLL_MS)
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

/** Null while a process holds the file. */
function readAbandoned(path: string): Submission[] | null {
  const abandoned = openAbandoned(path)
  if (abandoned === null) return null
  abandoned.db.close()
  return abandoned.rows.map(({ submission }) => JSON.parse(submission) as Submission)
}

/** Removes what killed backups have left. */
function sweep(dir: string): void {
  for (const name of readdirSync(dir)) {
    if (!name.endsWith(ASKED) && !name.includes(COPY)) continue
    const path = join(dir, name)
    if (Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0) > LEFT_MS)
      rmSync(path, { force: true })
  }
}

/** Deletes the journals of a directory, which nobody may hold, and the tallies beside them. @throws when somebody does */
export async function deleteJournals(dir: string): Promise<void> {
  if (!existsSync(dir)) return
  for (const name of readdirSync(dir).filter((name) => name.endsWith(SUFFIX))) {
    const abandoned = openAbandoned(join(dir, name))
    if (abandoned === null)
      throw new LoggableError(`The journal ${name} is held by a process: stop all services first.`)
    abandoned.db.close()
    await rm(join(dir, name), { force: true })
  }
  for (const name of readdirSync(dir).filter((name) => name.endsWith('.tally'))) await rm(join(dir, name))
}
