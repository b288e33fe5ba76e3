/** The typed client against a test stack. */
import { type Client, createClient, type Data } from '#shared/client/index.ts'
import type { Role } from '#shared/contracts/fields.ts'
import { admin, type Asked } from './test-stack.ts'

type Operation = Exclude<keyof Client, 'stream' | 'download' | 'identity'>

/** Every operation, resolving with the data of its success. */
export type Calls = {
  readonly [K in Operation]: (...given: Parameters<Client[K]>) => Promise<Data<K>>
}

/** Calls of an operator, and of the given pilgrim. @throws Error with the refusal */
export function callsOf(stack: Asked, role: Role, userId: string): Calls {
  const client = createClient({
    baseUrl: '',
    fetch: (path, init) => stack.fetch(path, init),
    token: () => admin(role)['X-Admin-Token'],
    identity: { userId },
  })
  return new Proxy({} as Calls, {
    get:
      (_, operation: Operation) =>
      async (...given: [never]) => {
        const answer = await client[operation](...given)
        if (!answer.ok) throw new Error(`${operation}: ${JSON.stringify(answer.error)}`)
        return answer.data
      },
  })
}
