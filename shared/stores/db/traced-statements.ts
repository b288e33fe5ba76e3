/** The statements of a transaction as spans. */
import { isTracing, span } from '#shared/runtime/traces.ts'
import type { Tx } from './db.ts'

const TABLE = /\b(?:INTO|FROM|UPDATE|COPY)\s+(?!unnest|jsonb)(\w+)/

/** A statement's text. Values are parameters and not part of it. */
const nameOf = (text: string): string =>
  [/\w+/.exec(text)?.[0], TABLE.exec(text)?.[1]].filter((part) => part !== undefined).join(' ')

/** @returns the transaction itself; while traces are on, one that creates a span for each awaited SQL statement */
export function tracedStatements(tx: Tx): Tx {
  if (!isTracing()) return tx
  const traced =
    (call: (...given: never[]) => object) =>
    (...given: never[]): object => {
      const made = call(...given) as PromiseLike<unknown>
      const [text] = given as unknown as [string | readonly string[]]
      // Without a template it is a fragment of another statement.
      if (typeof text !== 'string' && !('raw' in text)) return made
      const { then } = made
      let hasBegun = false
      // The client runs a statement when it is awaited.
      // oxlint-disable-next-line no-thenable
      made.then = ((...handlers: Parameters<typeof then>) => {
        const run = () => Reflect.apply(then, made, handlers) as Promise<unknown>
        if (hasBegun) return run()
        hasBegun = true
        return span(nameOf(typeof text === 'string' ? text : text.join('?')), {}, run)
      }) as typeof then
      return made
    }
  const sql = new Proxy(tx.sql, {
    apply: (target, _, given) => traced(target as never)(...(given as never[])),
    get: (target, name) => {
      const found: unknown = Reflect.get(target, name)
      return name === 'unsafe' ? traced(found as never) : found
    },
  })
  return { sql, orm: tx.orm }
}
