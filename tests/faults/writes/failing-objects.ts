/** An object store whose calls can be made to fail, before or after they take effect. */
import { type Objects, ObjectsUnavailable } from '#shared/stores/objects/objects.ts'
import type { LinkCondition } from '#tests/helpers/tcp-proxy.ts'

const failed = () => new ObjectsUnavailable('the test lets the object store fail')

/** @returns the store, and a control like a `TcpProxy`'s; each call counts as a message */
export function failingObjects(objects: Objects) {
  let condition: LinkCondition = { kind: 'clear' }
  let calls = 0
  /** The fault of this call; once a call is rejected, all later ones are too. */
  const faultOfNext = (): 'refused' | 'cut' | null => {
    const before = calls++
    if (condition.kind !== 'fault' || before < condition.after) return null
    if (condition.how === 'refused') return 'refused'
    return condition.how === 'cut' && before === condition.after ? 'cut' : null
  }
  const failing =
    <A extends unknown[], T>(call: (...args: A) => Promise<T>) =>
    async (...args: A): Promise<T> => {
      const fault = faultOfNext()
      if (fault === 'refused') throw failed()
      const done = await call(...args)
      if (fault === 'cut') throw failed()
      return done
    }
  const store: Objects = {
    put: failing((...args) => objects.put(...args)),
    get: failing((key) => objects.get(key)),
    head: failing((key) => objects.head(key)),
    delete: failing((key) => objects.delete(key)),
    list: (prefix) => objects.list(prefix),
    probe: () => objects.probe(),
    close: () => objects.close(),
  }
  return {
    store,
    proxy: {
      get messages() {
        return calls
      },
      set(next: LinkCondition): void {
        condition = next
        calls = 0
      },
    },
  }
}
