/** The journal after kills, damage and full disks, and with other replicas in the same directory. */
import { Database } from 'bun:sqlite'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { copyFileSync, readdirSync, readFileSync, renameSync, truncateSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { BYTES_AN_ENTRY, type Journal, JournalFull, openJournal } from '#shared/points/journal/journal.ts'
import { newDirectory } from '#tests/helpers/process.ts'
import { rejection } from '#tests/helpers/rejection.ts'
import { mountSmallDisk } from '#tests/helpers/small-disk.ts'
import { until } from '#tests/helpers/wait.ts'
import { checkin } from '#tests/kv/drivers.ts'

let dir: string
beforeEach(async () => void (dir = await newDirectory('journal')))
afterEach(() => rm(dir, { recursive: true, force: true }))

function ids(journal: Journal): Set<string> {
  const found = new Set<string>()
  for (let page = journal.after(0, 1_000); page.length > 0; page = journal.after(page.at(-1)!.place, 1_000))
    for (const { submission } of page) found.add(submission.id)
  return found
}
const fill = (journal: Journal, count: number): Promise<void[]> =>
  Promise.all(Array.from({ length: count }, () => journal.append(checkin())))

/** A stopped replica: an unlocked file with entries. */
async function abandon(count: number): Promise<string> {
  const before = new Set(readdirSync(dir))
  const journal = openJournal(dir, 1_000_000)
  await fill(journal, count)
  journal.close()
  return join(
    dir,
    readdirSync(dir).find((name) => name.endsWith('.journal') && !before.has(name))!,
  )
}

test('entries are returned oldest first, page by page, until they are removed', async () => {
  const journal = openJournal(dir, 100)
  const submissions = Array.from({ length: 7 }, (_, i) => checkin({ userId: `U${i}`, position: null }))
  for (const submission of submissions) await journal.append(submission)
  expect(journal.size()).toBe(7)
  const first = journal.after(0, 3)
  expect(first.map(({ submission }) => submission)).toEqual(submissions.slice(0, 3))
  const rest = journal.after(first.at(-1)!.place, 10)
  expect(rest.map(({ submission }) => submission)).toEqual(submissions.slice(3))
  journal.remove([submissions[1]!.id, submissions[1]!.id, 'unknown'])
  expect(journal.size()).toBe(6)
  expect(journal.after(0, 2).map(({ submission }) => submission)).toEqual([submissions[0]!, submissions[2]!])
  journal.close()
})

test('appends of one turn share a commit, and a repeated one counts once', async () => {
  const journal = openJournal(dir, 10_000)
  const startedAt = performance.now()
  for (let i = 0; i < 100; i++) await journal.append(checkin())
  const ofTheirOwnMs = performance.now() - startedAt
  const submission = checkin()
  await Promise.all([fill(journal, 2_000), journal.append(submission), journal.append(submission)])
  const togetherMs = performance.now() - startedAt - ofTheirOwnMs
  expect(togetherMs).toBeLessThan((20 * ofTheirOwnMs) / 2)
  expect(journal.size()).toBe(2_101)
  await journal.append(submission)
  expect(journal.size()).toBe(2_101)
  journal.close()
})

test('another submission under an id that the journal holds is refused, and its neighbours are stored', async () => {
  const journal = openJournal(dir, 100)
  const first = checkin({ userId: 'U' })
  await journal.append(first)
  const [neighbour, other] = [checkin(), { ...checkin({ userId: 'V' }), id: first.id }]
  const [refused] = await Promise.all([rejection(journal.append(other)), journal.append(neighbour)])
  expect(String(refused)).toContain('another submission is in the journal under this id')
  expect(ids(journal)).toEqual(new Set([first.id, neighbour.id]))
  expect(journal.after(0, 1)[0]!.submission).toEqual(first)
  journal.close()
})

test('a page is bounded by its bytes, and its first entry is returned whatever its size', async () => {
  const journal = openJournal(dir, 10_000)
  const long = checkin({ entries: [{ field: 'c1', value: 'x'.repeat(1_000_000) }] })
  const short = Array.from({ length: 4 }, (_, i) =>
    checkin({ userId: `${i}`, entries: [{ field: 'c1', value: 'x'.repeat(100_000) }] }),
  )
  for (const one of [long, ...short]) await journal.append(one)
  const sizes: number[] = []
  for (let page = journal.after(0, 500); page.length > 0; page = journal.after(page.at(-1)!.place, 500))
    sizes.push(page.length)
  expect(sizes).toEqual([1, 2, 2])
  journal.close()
})

test('other work goes on while a large journal is adopted, and an adoption that is cut short is continued', async () => {
  await abandon(6_000)
  const journal = openJournal(dir, 10)
  let turns = 0
  const counting = setInterval(() => turns++, 0)
  const adopting = journal.adopt()
  await until(() => journal.size() >= 1_000, 'the first pages')
  // The rest stays in the stopped replica's file.
  expect(journal.size()).toBeLessThan(6_000)
  const held = ids(journal)
  journal.close()
  const { entries } = await adopting
  clearInterval(counting)
  expect(turns).toBeGreaterThan(0)
  const next = openJournal(dir, 10)
  await next.adopt()
  expect(entries).toBeLessThan(6_000)
  expect(next.size()).toBe(6_000)
  expect(held.difference(ids(next))).toEqual(new Set())
  next.close()
})

test('removed entries leave nothing in the journal’s files', async () => {
  const journal = openJournal(dir, 1_000)
  const gone = Array.from({ length: 200 }, (_, i) =>
    checkin({ userId: `GONE-${i}`, entries: [{ field: `c${i}`, value: ' '.repeat(i * 3) }] }),
  )
  const stays = checkin({ userId: 'STAYS' })
  await Promise.all(gone.map((one) => journal.append(one)))
  await journal.append(stays)
  const bytes = () => readdirSync(dir).map((name) => readFileSync(join(dir, name), 'latin1'))
  expect(bytes().join('')).toContain('GONE')
  // One by one, as the kv confirms them: each is its own commit.
  for (const { id } of gone) journal.remove([id])
  expect(bytes().join('')).not.toContain('GONE')
  expect([...ids(journal)]).toEqual([stays.id])
  journal.close()
})

test('the journal is full at its bytes, too, until an entry is removed', async () => {
  const journal = openJournal(dir, 100)
  const large = () =>
    checkin({ entries: [{ field: 't1', value: 'x'.repeat((100 * BYTES_AN_ENTRY) / 2) }], position: null })
  const first = large()
  for (const entry of [first, large()]) await journal.append(entry)
  expect(await rejection(journal.append(checkin()))).toBeInstanceOf(JournalFull)
  journal.remove([first.id, first.id])
  await journal.append(checkin())
  expect(journal.size()).toBe(2)
  journal.close()
})

test('the journal is full at its bound, also within one batch, until an entry is removed', async () => {
  const journal = openJournal(dir, 3)
  const submission = checkin()
  const appended = [journal.append(submission), ...Array.from({ length: 4 }, () => journal.append(checkin()))]
  const outcomes = await Promise.allSettled(appended)
  expect(outcomes.map(({ status }) => status)).toEqual([
    'fulfilled',
    'fulfilled',
    'fulfilled',
    'rejected',
    'rejected',
  ] as never)
  expect(await rejection(journal.append(checkin()))).toBeInstanceOf(JournalFull)
  journal.remove([submission.id])
  await journal.append(checkin())
  journal.close()
})

test('a track counts as one entry and as all its points, also after its adoption', async () => {
  const entry = checkin().entries[0]!
  const track = checkin({ entries: [entry, { ...entry, field: 't1' }, { ...entry, field: 't2' }] })
  const journal = openJournal(dir, 10)
  await journal.append(track)
  await journal.append(checkin())
  expect([journal.size(), journal.points()]).toEqual([2, 4])
  journal.close()
  const next = openJournal(dir, 10)
  await next.adopt()
  expect([next.size(), next.points()]).toEqual([2, 4])
  next.remove([track.id])
  expect([next.size(), next.points()]).toEqual([1, 1])
  next.remove([...ids(next)])
  next.close()
})

test('an empty journal deletes its file; one with entries is adopted by the next, beyond its bound', async () => {
  openJournal(dir, 10).close()
  expect(readdirSync(dir)).toEqual([])
  await abandon(5)
  const journal = openJournal(dir, 2)
  expect(await journal.adopt()).toEqual({ entries: 5, faults: [] })
  expect(journal.size()).toBe(5)
  expect(readdirSync(dir).filter((name) => name.endsWith('.journal'))).toHaveLength(1)
  journal.remove([...ids(journal)])
  expect(journal.size()).toBe(0)
  journal.close()
  expect(readdirSync(dir)).toEqual([])
})

test('entries of a file whose adopter died before deleting it count once', async () => {
  const file = await abandon(5)
  copyFileSync(file, join(dir, 'copy.journal'))
  const journal = openJournal(dir, 100)
  expect((await journal.adopt()).faults).toEqual([])
  expect(journal.size()).toBe(5)
  journal.remove([...ids(journal)])
  journal.close()
  expect(readdirSync(dir)).toEqual([])
})

test('a damaged row and one whose id is taken stay in a file that is set aside; the others are adopted', async () => {
  const file = await abandon(3)
  const own = openJournal(dir, 100)
  const abandoned = new Database(file)
  const places = abandoned.query<{ rowid: number; id: string }, []>('SELECT rowid, id FROM journal').all()
  abandoned.run('UPDATE journal SET submission = \'{"id":\' WHERE rowid = ?', [places[0]!.rowid])
  abandoned.close()
  const taken = { ...checkin({ userId: 'V' }), id: places[1]!.id }
  await own.append(taken)
  const { entries, faults } = await own.adopt()
  expect({ entries, faults: faults.length }).toEqual({ entries: 1, faults: 1 })
  expect(ids(own)).toEqual(new Set([taken.id, places[2]!.id]))
  expect(own.after(0, 1)[0]!.submission).toEqual(taken)
  const kept = new Database(`${file}.damaged`)
  expect(
    kept
      .query<{ id: string }, []>('SELECT id FROM journal')
      .all()
      .map(({ id }) => id),
  ).toEqual([places[0]!.id, places[1]!.id])
  kept.close()
  expect(await own.adopt()).toEqual({ entries: 0, faults: [] })
  own.close()
})

test('a damaged file is reported once and set aside; an empty one is deleted', async () => {
  const torn = await abandon(3_000)
  truncateSync(torn, Math.floor(readFileSync(torn).length / 2))
  renameSync(torn, join(dir, 'torn.journal'))
  writeFileSync(join(dir, 'other.journal'), 'SQLite format 3\0 but nothing like it'.repeat(100))
  writeFileSync(join(dir, 'empty.journal'), '')
  await abandon(3)
  const journal = openJournal(dir, 100)
  const { entries, faults } = await journal.adopt()
  expect(entries).toBe(3)
  const named = ['other', 'torn'].map((name) => `the journal ${name}.journal could not be adopted`)
  expect(faults.map(({ message }) => message).sort()).toEqual(named)
  expect(await journal.adopt()).toEqual({ entries: 0, faults: [] })
  const left = readdirSync(dir).filter((name) => !name.endsWith('-journal'))
  expect(left.filter((name) => name.endsWith('.journal'))).toHaveLength(1)
  expect(left).toEqual(expect.arrayContaining(['other.journal.damaged', 'torn.journal.damaged']))
  journal.close()
})

interface Replica {
  readonly child: Bun.Subprocess
  readonly lines: () => string[]
  kill(): Promise<void>
}

async function startReplica(does: 'write' | 'adopt'): Promise<Replica> {
  const script = join(import.meta.dir, 'journal-process.ts')
  const child = Bun.spawn([process.execPath, script, dir, does], { stdio: ['ignore', 'pipe', 'inherit'] })
  let output = ''
  const reading = (async () => {
    const decoder = new TextDecoder()
    for await (const chunk of child.stdout) output += decoder.decode(chunk, { stream: true })
  })()
  await until(() => output.startsWith('open\n'), 'a replica to open its journal')
  return {
    child,
    lines: () => output.split('\n').slice(1, -1),
    async kill() {
      child.kill('SIGKILL')
      await child.exited
      await reading
    },
  }
}

test('the journal of a killed replica is adopted completely, that of a running one is not', async () => {
  const journal = openJournal(dir, 1_000_000)
  for (let round = 0; round < 4; round++) {
    const replica = await startReplica('write')
    await until(() => replica.lines().length > 20, 'the replica to write')
    expect(await journal.adopt()).toEqual({ entries: 0, faults: [] })
    await Bun.sleep(Math.random() * 60)
    await replica.kill()
    const { entries, faults } = await journal.adopt()
    expect(faults).toEqual([])
    expect(entries).toBeGreaterThanOrEqual(replica.lines().length)
    expect(new Set(replica.lines()).difference(ids(journal))).toEqual(new Set())
  }
  journal.remove([...ids(journal)])
  journal.close()
  expect(readdirSync(dir)).toEqual([])
})

test('a new file that others adopt before it is locked is not used; nothing is lost', async () => {
  const adopters = await Promise.all([startReplica('adopt'), startReplica('adopt')])
  for (let i = 0; i < 100; i++) {
    const journal = openJournal(dir, 10)
    await journal.append(checkin())
    journal.close()
    if (i % 10 === 0) await Bun.sleep(1)
  }
  const adopted = () => adopters.flatMap((one) => one.lines()).reduce((sum, line) => sum + Number(line), 0)
  await until(() => adopted() >= 100, 'the others to adopt all')
  await Promise.all(adopters.map((one) => one.kill()))
  const journal = openJournal(dir, 10)
  expect(await journal.adopt()).toEqual({ entries: 100, faults: [] })
  expect(journal.size()).toBe(100)
  journal.close()
})

const disk = await mountSmallDisk(1_024)
describe.skipIf(disk === null)('a full disk', () => {
  afterAll(() => disk!.unmount())

  test('a full disk refuses new entries, keeps accepted ones, and accepts more when it has space', async () => {
    const journal = openJournal(disk!.dir, 1_000_000)
    const promised: string[] = []
    const write = async () => {
      const submission = checkin({ duplicateKey: 'x'.repeat(10_000) })
      await journal.append(submission)
      promised.push(submission.id)
    }
    for (let i = 0; i < 20; i++) await write()
    await disk!.fill()
    const outcomes = await Promise.allSettled([write(), write(), write()])
    for (const { status } of outcomes) expect(status).toBe('rejected')
    for (let i = 0; i < 5; i++) expect(String(await rejection(write()))).toContain('full')
    expect(journal.size()).toBe(20)
    await disk!.free()
    await write()
    expect(journal.size()).toBe(21)
    journal.close()
    const next = openJournal(disk!.dir, 1_000_000)
    expect(await next.adopt()).toEqual({ entries: 21, faults: [] })
    expect(ids(next)).toEqual(new Set(promised))
    next.close()
  })
})
