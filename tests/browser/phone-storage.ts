/** Phone storage with controlled failures: the browser's database, and the free space. */
import type { BrowserContext, Page } from 'playwright-core'

/** How the database fails. `refused`: every request is rejected; `silent`: opening it never completes. */
type Fault = 'refused' | 'silent' | null

interface Broken {
  fault: Fault
  readonly connections: IDBDatabase[]
}

/** Lets a test break the database of a page. */
export const breakable = (context: BrowserContext, fault: Fault = null): Promise<unknown> =>
  context.addInitScript((first) => {
    const broken: Broken = { fault: first, connections: [] }
    const { open } = IDBFactory.prototype
    const { transaction } = IDBDatabase.prototype
    IDBFactory.prototype.open = function (...given) {
      if (broken.fault === 'silent') return new EventTarget() as IDBOpenDBRequest
      if (broken.fault === 'refused') throw new DOMException('Connection to the server lost', 'UnknownError')
      const opening = open.apply(this, given)
      opening.addEventListener('success', () => broken.connections.push(opening.result))
      return opening
    }
    IDBDatabase.prototype.transaction = function (...given) {
      if (broken.fault !== null) throw new DOMException('Connection to the server lost', 'UnknownError')
      return transaction.apply(this, given)
    }
    Object.assign(globalThis, { broken })
  }, fault)

export const setFault = (page: Page, fault: Fault): Promise<void> =>
  page.evaluate((next) => {
    const { broken } = globalThis as unknown as { broken: Broken }
    broken.fault = next
  }, fault)

/**
 * Closes the connections, like a browser that loses the database's process, with or without notifying the
 * page.
 */
export const closeConnections = (page: Page, isTold: boolean): Promise<void> =>
  page.evaluate((told) => {
    const { broken } = globalThis as unknown as { broken: Broken }
    for (const connection of broken.connections) {
      connection.close()
      if (told) connection.dispatchEvent(new Event('close'))
    }
  }, isTold)

/** Fills the phone's storage, or frees it again. */
export const fillUp = (page: Page, isFull: boolean): Promise<void> =>
  page.evaluate((isFull) => {
    const stored = IDBObjectStore.prototype as { add: unknown; put: unknown; held?: [unknown, unknown] }
    const local = Storage.prototype as { setItem: unknown; held?: unknown }
    stored.held ??= [stored.add, stored.put]
    local.held ??= local.setItem
    const refuse = () => {
      throw new DOMException('full', 'QuotaExceededError')
    }
    ;[stored.add, stored.put] = isFull ? [refuse, refuse] : stored.held
    local.setItem = isFull ? refuse : local.held
  }, isFull)
