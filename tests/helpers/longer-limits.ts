/** Loaded before each test file: extends the limits of its hooks and tests to what this machine needs. */
import * as bunTest from 'bun:test'
import { SET_UP_MS, slower } from './time-limits.ts'

type Hook = typeof bunTest.beforeAll

const hookWith =
  (hook: Hook): Hook =>
  (act, limit = SET_UP_MS) =>
    hook(act, typeof limit === 'number' ? slower(limit) : limit)

type Callable = (...args: unknown[]) => unknown

/** `test`, with its variants such as `test.each` and `test.skipIf`: a number as third argument is a limit. */
function testWith(declare: Callable, owner?: unknown): Callable {
  return new Proxy(declare, {
    apply(target, _self, [name, act, limit, ...rest]: unknown[]) {
      const args = [name, act, typeof limit === 'number' ? slower(limit) : limit, ...rest]
      const result: unknown = Reflect.apply(target, owner, limit === undefined ? args.slice(0, 2) : args)
      return typeof result === 'function' ? testWith(result as Callable) : result
    },
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? testWith(value as Callable, target) : value
    },
  })
}

const original = { ...bunTest }
const { beforeAll, beforeEach, afterAll, afterEach } = original
const test = testWith(original.test as unknown as Callable)
await bunTest.mock.module('bun:test', () => ({
  ...original,
  test,
  it: test,
  beforeAll: hookWith(beforeAll),
  beforeEach: hookWith(beforeEach),
  afterAll: hookWith(afterAll),
  afterEach: hookWith(afterEach),
}))
