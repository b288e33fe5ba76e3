/**
 * The operator's session: the token is kept for this tab alone (sessionStorage), and never stands in a URL. What the
 * token may do is asked from the service; the service also refuses everything else.
 */
import { computed, signal } from '@preact/signals'
import { type Answer, type Client, createClient, type Data } from '#shared/client/index.ts'
import { hear } from './clock.ts'
import { closeToasts } from '../design/toast.tsx'
import { closeResources, endWait, startWait } from './resource.ts'
import { words } from './words.ts'

const KEY = 'console-token'

type Role = Data<'readRole'>

/** Why there is no session: nothing was typed yet, the token was refused, or the operator signed out. */
type SignedOut = 'new' | 'refused' | 'left'

const token = signal<string | null>(sessionStorage.getItem(KEY))
export const role = signal<Role | null>(null)
export const signedOut = signal<SignedOut>('new')

export const level = computed(() => role.value?.level ?? 0)

export const VOLUNTEER = 1
export const MANAGER = 2
export const OWNER = 3

export const hasToken = (): boolean => token.value !== null

const plain: Client = createClient({
  baseUrl: '',
  token: () => token.value ?? undefined,
  timeoutMs: 25_000,
  async fetch(url, init) {
    const askedMs = performance.now()
    const answer = await fetch(url, init)
    hear(answer.headers.get('date'), performance.now() - askedMs)
    return answer
  },
})

const purges = new Set<() => void>([closeResources, endWait, closeToasts])

/** Registers what forgets a module's memory of a session: the next operator at this tab may be allowed less. */
export const atSignOut = (forget: () => void): void => void purges.add(forget)

/** Counts sessions, so that an answer is known to belong to an earlier one. */
let session = 0

/** Ends the session. Nothing of it stays in the tab. */
export function endSession(why: SignedOut): void {
  session++
  sessionStorage.removeItem(KEY)
  token.value = null
  role.value = null
  signedOut.value = why
  for (const forget of purges) forget()
}

// The browser may show a page again that it has kept since before the operator signed out on another page of this tab.
addEventListener('pageshow', ({ persisted }: PageTransitionEvent) => {
  if (persisted && sessionStorage.getItem(KEY) !== token.value) endSession('left')
})

/** Ends the session when an answer says that the token is not valid any more, and notes its limit of calls. */
function noticed<T>(answer: Answer<T>): Answer<T> {
  if (answer.ok || role.value === null) return answer
  if (answer.error.status === 401) endSession('refused')
  if (answer.error.status === 429) startWait(answer.error)
  return answer
}

type Call = (...args: readonly unknown[]) => unknown

/** The client. A call that gets 401 ends the session; an answer that comes after the session is given to nobody. */
export const client: Client = new Proxy(plain, {
  get(target, name) {
    const method = Reflect.get(target, name) as Call
    if (name === 'stream' || name === 'identity') return method
    return async (...args: readonly unknown[]) => {
      const mine = session
      const answer = (await method(...args)) as Answer<unknown>
      return mine === session ? noticed(answer) : new Promise<never>(() => {})
    }
  },
})

/** Tries a token, or the one of this tab. @returns a sentence when it is not accepted */
export async function signIn(given: string | null = null): Promise<string | null> {
  if (given !== null) token.value = given.trim()
  const answer = await plain.readRole()
  if (answer.ok) {
    sessionStorage.setItem(KEY, token.value ?? '')
    role.value = answer.data
    return null
  }
  // A token of this tab stays while the service cannot be reached.
  if (given !== null || answer.error.status === 401) endSession(given === null ? 'refused' : 'new')
  return answer.error.status === 401 ? words.value.signIn.wrong : answer.error.message
}
