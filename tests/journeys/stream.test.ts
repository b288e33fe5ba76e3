/** The live stream for operators, through the proxy and embedded. */
import { expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:http2'
import { join } from 'node:path'
import { cellAt, cellName } from '#shared/core/map/cells.ts'
import { sentenceOf } from '#tests/helpers/answers.ts'
import { type EventStream, readEvents } from '#tests/helpers/event-stream.ts'
import { newDirectory } from '#tests/helpers/process.ts'
import { startCaddy } from '#tests/helpers/servers.ts'
import { embeddedOnly } from '#tests/helpers/suite.ts'
import { until } from '#tests/helpers/wait.ts'
import {
  admin,
  checkIn,
  endActivity,
  newPilgrimId,
  PLACE,
  setStatus,
  syncTrack,
  type TestStack,
} from '#tests/helpers/test-stack.ts'
import { openRealTestStack } from '#tests/helpers/test-stack-real.ts'
import { describeBothStacks } from '#tests/helpers/open-test-stack.ts'

const PATH = '/api/event/admin/stream'

async function open(
  stack: TestStack,
  headers: Record<string, string> = {},
  query = '',
): Promise<EventStream> {
  const answer = await stack.fetch(`${PATH}${query}`, { headers: { ...admin('manager'), ...headers } })
  expect(answer.status).toBe(200)
  expect(answer.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
  expect(answer.headers.get('cache-control')).toBe('no-store')
  expect(answer.headers.get('access-control-allow-origin')).toBe('*')
  return readEvents(answer.body!)
}

const sum = (stream: EventStream, name: 'checkins' | 'points' | 'duplicates'): number =>
  stream.all('counts').reduce((total, counts) => total + counts[name], 0)

describeBothStacks('the stream', (stack) => {
  test('sends a snapshot, then the check-ins that all replicas admit, with their places', async () => {
    const stream = await open(stack, {}, '?zoom=14')
    const snapshot = await stream.next('snapshot')
    expect(snapshot).toMatchObject({
      resumed: false,
      status: { status: 'active' },
      ending: null,
      incident: null,
    })
    expect(stream.events[0]!.event).toBe('snapshot')
    const pilgrims = Array.from({ length: 6 }, newPilgrimId)
    const points = [1, 2, 3].map((i) => ({ ...PLACE, timestamp: Date.now() - i * 1_000 }))
    for (const userId of pilgrims) expect((await checkIn(stack, userId)).status).toBe(202)
    expect((await syncTrack(stack, pilgrims[0]!, points)).status).toBe(200)
    expect((await syncTrack(stack, pilgrims[0]!, points)).status).toBe(200)
    await until(() => sum(stream, 'points') >= 9 && sum(stream, 'duplicates') >= 3, 'the counts')
    expect([sum(stream, 'checkins'), sum(stream, 'points'), sum(stream, 'duplicates')]).toEqual([6, 9, 3])
    const { totals } = stream.all('counts').at(-1)!
    expect(totals.points - (snapshot.counts?.totals.points ?? NaN)).toBe(9)
    const place = cellName(cellAt(PLACE.lat, PLACE.lng, 14))
    const seen = () => stream.all('cells').flatMap(({ cells }) => cells.filter(({ cell }) => cell === place))
    await until(
      () => seen().reduce((total, { pilgrims: n }) => total + n, 0) >= 6,
      'six pilgrims in the cell',
    )
    stream.close()
  })

  test('sends changes of the status, and after a reconnect the missed ones', async () => {
    const stream = await open(stack)
    await stream.next('snapshot')
    await setStatus(stack, { status: 'paused', message: 'Storm' })
    const paused = await stream.next('status')
    expect(paused).toMatchObject({ status: 'paused', message: 'Storm' })
    await setStatus(stack, { status: 'paused' })
    await setStatus(stack, { status: 'paused', message: 'Hail' })
    await until(() => stream.all('status').length > 1, 'the new message')
    expect(stream.all('status')).toEqual([paused, { ...paused, message: 'Hail' }])
    const { lastId } = stream
    stream.close()

    await setStatus(stack, { status: 'active' })
    await checkIn(stack, newPilgrimId(), { lat: 23.5 })
    await setStatus(stack, { status: 'paused', message: 'Again' })
    const again = await open(stack, { 'Last-Event-ID': lastId })
    expect(await again.next('snapshot')).toMatchObject({ resumed: true, status: { status: 'paused' } })
    expect(again.events.map(({ event }) => event).slice(0, 4)).toEqual([
      'status',
      'status',
      'cells',
      'snapshot',
    ])
    expect(again.all('status').map(({ status, message }) => [status, message])).toEqual([
      ['active', null],
      ['paused', 'Again'],
    ])
    const place = cellName(cellAt(23.5, PLACE.lng, 10))
    expect(again.all('cells')[0]!.cells.map(({ cell }) => cell)).toContain(place)
    again.close()
    await setStatus(stack, { status: 'active' })

    for (const foreign of ['nonsense', '999999999.1', '1.99999999999999'])
      expect(await (await open(stack, { 'Last-Event-ID': foreign })).next('snapshot')).toMatchObject({
        resumed: false,
        status: { status: 'active' },
      })
  })

  test('refuses an invalid zoom; a HEAD opens no stream', async () => {
    for (const zoom of ['5', '19', '', '1e1', '10.5'])
      await sentenceOf(
        await stack.fetch(`${PATH}?zoom=${zoom}`, { headers: admin('manager') }),
        400,
        'invalid-request',
      )
    const head = await stack.fetch(PATH, { method: 'HEAD', headers: admin('manager') })
    expect([head.status, head.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8'])
  })

  test('arrives without delay over HTTP/2 too', async () => {
    if (stack.kind === 'embedded') return
    const session = connect(`https://localhost:${stack.port}`, { ca: stack.ca })
    try {
      const request = session.request({ ':path': PATH, ...admin('manager') })
      let text = ''
      request.setEncoding('utf8')
      request.on('data', (chunk: string) => (text += chunk))
      await until(() => text.includes('event: snapshot'), 'the snapshot')
      const started = performance.now()
      await setStatus(stack, { status: 'paused' })
      await until(() => text.includes('event: status'), 'the change')
      expect(performance.now() - started).toBeLessThan(8_000)
      await setStatus(stack, { status: 'active' })
    } finally {
      session.destroy()
    }
  })

  // The last test: nothing reopens an ended event.
  test('sends the end of the event', async () => {
    const stream = await open(stack)
    await stream.next('snapshot')
    await endActivity(stack)
    expect(await stream.next('status', ({ status }) => status === 'ended')).toMatchObject({ message: null })
    await stream.next('ending', ({ flush }) => flush === 'done')
    await stream.next('ending', ({ cards }) => cards.total === 0)
    stream.close()
  })
})

test.skipIf(embeddedOnly)('a stream that Caddy ends for its age goes on where it was (long)', async () => {
  const stack = await openRealTestStack({ apart: [] })
  try {
    const root = join(import.meta.dir, '../..')
    const written = readFileSync(join(root, 'Caddyfile'), 'utf8')
    const bounded = written.replace('write 15m', 'write 3s').replace('import proxy/', `import ${root}/proxy/`)
    expect(bounded).toContain('write 3s')
    const caddyfile = join(await newDirectory('bounded'), 'Caddyfile')
    writeFileSync(caddyfile, bounded)
    await using caddy = await startCaddy({
      caddyfile,
      env: {
        PRIMARY_HOST: 'localhost',
        ALIAS_HOST: '127.0.0.1',
        UPSTREAM_DISCOVERY: 'list',
        TRACKING_UPSTREAM: '127.0.0.1:1',
        ADMIN_UPSTREAM: new URL(stack.urlsOf('admin')[0]!).host,
      },
    })
    const ca = readFileSync(caddy.rootCertificate, 'utf8')
    const bound = {
      ...stack,
      fetch: (path: string, init?: RequestInit) =>
        fetch(`https://localhost:${caddy.port}${path}`, { ...init, tls: { ca } }),
    }
    const stream = await open(bound)
    await stream.next('snapshot')
    const cut = async () => {
      // The limit takes effect at the next write.
      await checkIn(stack, newPilgrimId())
      try {
        return stream.ended
      } catch {
        // The connection closes within the body.
        return true
      }
    }
    await until(cut, 'the bound', { everyMs: 500 })
    const userId = newPilgrimId()
    await checkIn(stack, userId, { lat: 23.25 })
    await Bun.sleep(1_500)
    const again = await open(bound, { 'Last-Event-ID': stream.lastId })
    expect(await again.next('snapshot')).toMatchObject({ resumed: true })
    const place = cellName(cellAt(23.25, PLACE.lng, 10))
    expect(again.all('cells').flatMap(({ cells }) => cells.map(({ cell }) => cell))).toContain(place)
    again.close()
  } finally {
    await stack.close()
  }
})
