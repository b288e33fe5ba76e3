/** A stream client uses bounded memory while it does not read, and while its snapshot waits for a store. */
import { expect, test } from 'bun:test'
import { createReader } from '#services/admin/stream/stream.ts'

const EVENT = new Uint8Array(1_000)
/** More than a queue can store. */
const MANY = 300

function open() {
  const gone: string[] = []
  const reader = createReader(10, (why) => gone.push(why))
  return { reader, gone, bytes: async () => (await new Response(reader.body).bytes()).length }
}

test('a client that does not read is disconnected, and gets what is queued', async () => {
  const { reader, gone, bytes } = open()
  reader.listen()
  reader.begin([])
  for (let i = 0; i < MANY; i++) reader.send(EVENT)
  expect(gone).toEqual(['slow'])
  expect(await bytes()).toBe(262_000)
})

test('a client whose beginning waits is disconnected as well, before it holds more', async () => {
  const { reader, gone, bytes } = open()
  reader.listen()
  for (let i = 0; i < 262; i++) reader.send(EVENT)
  expect(gone).toEqual([])
  reader.send(EVENT)
  expect(gone).toEqual(['slow'])
  // The store finally responds.
  reader.begin([EVENT])
  expect([gone.length, await bytes()]).toEqual([1, 0])
})

test('what happened meanwhile follows the beginning', async () => {
  const { reader, bytes } = open()
  reader.send(EVENT)
  reader.listen()
  for (let i = 0; i < 100; i++) reader.send(EVENT)
  reader.begin([EVENT])
  reader.end()
  expect(await bytes()).toBe(101_000)
})
