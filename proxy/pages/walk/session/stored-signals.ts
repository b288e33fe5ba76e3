/** Small values stored in IndexedDB, as signals: they survive the page, and all windows share them. */
import { batch, type Signal, signal } from '@preact/signals'
import { type IndexedDbStore, OutdatedError, type Values } from '#shared/client/queue/indexed-db-store.ts'

interface Kept {
  readonly value: Signal
  readonly initial: unknown
}
const all = new Map<string, Kept>()
const names = new Map<object, string>()

/**
 * A stored value with a name. Assign it with {@link keep}. It is `initial` until the stored values are read.
 */
export function kept<T>(name: string, initial: T): Signal<T> {
  const value = signal(initial)
  all.set(name, { value: value as Signal, initial })
  names.set(value, name)
  return value
}

const ofWalk = new Map<Signal, unknown>()

/**
 * A value that belongs to the walk: reset to `initial` when another walk is taken over.
 * @param name key under which it is stored; absent: it lasts as long as the page
 */
export function valueOfWalk<T>(initial: T, name?: string): Signal<T> {
  const value = name === undefined ? signal(initial) : kept(name, initial)
  ofWalk.set(value as Signal, initial)
  return value
}

/** Values of the walk that are read only when a view needs them, because they are large. */
export const LARGE = ['walk-days']

let store: IndexedDbStore | null = null
/** Values that are shown but not stored yet: the store is not open or has failed. */
const unkept = new Map<string, unknown>()
/** Names of values that another window wrote before the stored values were read. */
const heard = new Set<string>()

/** The browser refused to store a value: it lasts as long as the page, and is retried. */
export const notKept = signal(false)

const reading = Promise.withResolvers<void>()
/** Resolves when the signals have their stored values. */
export const valuesRead: Promise<void> = reading.promise

const show = (values: Values): void =>
  batch(() => {
    for (const [name, value] of values) {
      const entry = all.get(name)
      if (entry !== undefined) entry.value.value = value === undefined ? entry.initial : value
    }
  })

/** Shows stored values, unless a newer value was written meanwhile. */
export function showStored(values: Values): void {
  show(new Map([...values].filter(([name]) => !unkept.has(name) && !heard.has(name))))
  reading.resolve()
}

/** Reads the stored values, and stores changes from now on. @throws what the store throws */
export async function openValues(opened: IndexedDbStore): Promise<void> {
  const values = await opened.values((name) => !LARGE.includes(name))
  store = opened
  showStored(values)
  if (unkept.size > 0) void write(new Map())
}

const channel = typeof BroadcastChannel === 'undefined' ? null : new BroadcastChannel('walk-values')
const listeners = new Map<string, () => void>()
channel?.addEventListener('message', ({ data }: MessageEvent<[name: string, value: unknown][]>) => {
  for (const [name] of data) heard.add(name)
  show(new Map(data))
  for (const [name] of data) listeners.get(name)?.()
})

/** Calls the listener when another window has changed the value. */
export const onKept = <T>(value: Signal<T>, listener: () => void): void =>
  void listeners.set(names.get(value)!, listener)

let isClosed = false
const AGAIN_MS = 10_000
let again: ReturnType<typeof setTimeout> | undefined

/**
 * Stores values by name, along with those that failed before; `undefined` deletes one.
 * @returns whether the browser has stored them
 */
export async function write(values: Values, durability?: IDBTransactionDurability): Promise<boolean> {
  if (isClosed) return true
  if (values.size > 0) channel?.postMessage([...values])
  for (const [name, value] of values) unkept.set(name, value)
  if (store === null) return false
  const written = new Map(unkept)
  unkept.clear()
  try {
    await store.setValues(written, durability)
    notKept.value = unkept.size > 0
    return true
  } catch (error) {
    for (const [name, value] of written) if (!unkept.has(name)) unkept.set(name, value)
    // A newer release stores the values now.
    if (error instanceof OutdatedError) return false
    notKept.value = true
    clearTimeout(again)
    again = setTimeout(() => void write(new Map()), AGAIN_MS)
    return false
  }
}

/** @returns null if the device has none or cannot read it */
export const readLarge = async (name: string): Promise<unknown> =>
  (await store?.values((stored) => stored === name).catch(() => null))?.get(name) ?? null

type Change = readonly [value: Signal, next: unknown]

/** Shows and stores values together: all are stored, or none. @returns whether the browser has stored them */
export function keepAll(changes: readonly Change[], durability?: IDBTransactionDurability): Promise<boolean> {
  const values: Values = new Map(changes.map(([value, next]) => [names.get(value)!, next]))
  show(values)
  return write(values, durability)
}

/**
 * Shows a value at once and stores it. A page that ends right after the call loses nothing.
 * @param durability `strict`: a power loss right after it loses nothing either
 */
export const keep = <T>(value: Signal<T>, next: T, durability?: IDBTransactionDurability): void =>
  void keepAll([[value as Signal, next]], durability)

/** Resets all values of the walk: another one is taken over. */
export function forgetWalk(): void {
  const large = LARGE.map((name) => [name, undefined] as const)
  const named = [...ofWalk].flatMap(([value, initial]) => {
    const name = names.get(value)
    return name === undefined ? [] : [[name, initial] as const]
  })
  batch(() => {
    for (const [value, initial] of ofWalk) value.value = initial
  })
  void write(new Map([...named, ...large]))
}

/** Deletes all values, as after an erasure. Nothing is stored from then on, until the page is reloaded. */
export async function forgetAll(but: readonly string[] = []): Promise<void> {
  const names = [...all.keys(), ...LARGE].filter((name) => !but.includes(name))
  const forgotten = write(new Map(names.map((name) => [name, undefined])), 'strict')
  isClosed = true
  await forgotten
}
