/**
 * The operator's session: the token is stored for this tab only (sessionStorage), and never in a URL. The
 * service reports what the token may do, and rejects everything else.
 */
import { computed, signal } from '@preact/signals'
import { type Answer, type Client, createClient, type Data } from '#shared/client/index.ts'
import { hear } from './clock.ts'
import { closeToasts } from '../design/toast.tsx'
import { wholeDownload } from '../frame/whole-download.ts'
import { closeResources, endWait, startWait } from './resource.ts'
import { words } from './words.ts'

const KEY = 'console-token'

type Role = Data<'readRole'>

/** Why there is no session: nothing was typed yet, the token was rejected, or the operator signed out. */
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
    // A stored answer has the time at which it was stored.
    if (!/max-age/.test(answer.headers.get('cache-control') ?? ''))
      hear(answer.headers.get('date'), performance.now() - askedMs)
    return answer
  },
})

const purges = new Set<() => void>([closeResources, endWait, closeToasts])

/**
 * Registers a callback that clears a module's data at sign-out: the next operator at this tab may have fewer
 * rights.
 */
export const atSignOut = (forget: () => void): void => void purges.add(forget)

/** Number of the session, to recognise answers to an earlier one. */
let session = 0

/** Ends the session and clears its data in the tab. */
export function endSession(why: SignedOut): void {
  session++
  sessionStorage.removeItem(KEY)
  token.value = null
  role.value = null
  signedOut.value = why
  for (const forget of purges) forget()
}

// The browser may restore a page from before the operator signed out on another page of this tab.
addEventListener('pageshow', ({ persisted }: PageTransitionEvent) => {
  if (persisted && sessionStorage.getItem(KEY) !== token.value) endSession('left')
})

/** Ends the session if the token is no longer valid, and notes its rate limit. */
function noticed<T>(answer: Answer<T>): Answer<T> {
  if (answer.ok || role.value === null) return answer
  if (answer.error.status === 401) endSession('refused')
  if (answer.error.status === 429) startWait(answer.error)
  return answer
}

type Call = (...args: readonly unknown[]) => unknown

/** The client. A 401 ends the session; an answer that arrives after the session is dropped. */
export const client: Client = new Proxy(plain, {
  get(target, name) {
    const method = Reflect.get(target, name) as Call
    if (name === 'stream' || name === 'identity') return method
    return async (...args: readonly unknown[]) => {
      const started = session
      let answer = (await method(...args)) as Answer<unknown>
      if (name === 'download') answer = await wholeDownload(answer as Answer<{ readonly blob: Blob }>)
      return started === session ? noticed(answer) : new Promise<never>(() => {})
    }
  },
})

/** Tries a token, by default the tab's own. @returns an error sentence if it is not accepted */
export async function signIn(given: string | null = null): Promise<string | null> {
  if (given !== null) token.value = given.trim()
  const answer = await plain.readRole()
  if (answer.ok) {
    sessionStorage.setItem(KEY, token.value ?? '')
    role.value = answer.data
    return null
  }
  // The tab's own token stays while the service cannot be reached.
  if (given !== null || answer.error.status === 401) endSession(given === null ? 'refused' : 'new')
  return answer.error.status === 401 ? words.value.signIn.wrong : answer.error.message
}
