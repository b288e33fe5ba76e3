/**
 * The log-in with LINE, for events that identify pilgrims by it. LINE's SDK is a separate file that only
 * these events load.
 */

export interface LineBridge {
  /** Starts the SDK: reads the current login, and completes a log-in that returns from LINE. */
  start(liffId: string): Promise<void>
  /** The ID token, even if expired; null while logged out. */
  token(): string | null
  /** Redirects to LINE's log-in, which returns with a new token. */
  logIn(): void
  /** Opens the app in the phone's browser, where it can be installed and works offline; null outside LINE. */
  readonly leaveLine: ((url: string) => void) | null
}

let starting: Promise<LineBridge> | null = null
let bridge: LineBridge | null = null

/** If LINE has not responded by then, it counts as unreachable. */
const START_TIMEOUT_MS = 20_000

async function start(liffId: string): Promise<LineBridge> {
  const { openLine } = await import('./line-sdk.ts')
  const opened = openLine()
  await opened.start(liffId)
  return (bridge = opened)
}

const unreachable = (): Promise<never> =>
  new Promise((_, reject) => setTimeout(() => reject(new Error('LINE does not answer')), START_TIMEOUT_MS))

/** The started SDK; null if it cannot be loaded, for example offline. */
export async function lineBridge(liffId: string | null): Promise<LineBridge | null> {
  if (liffId === null) return null
  starting ??= Promise.race([start(liffId), unreachable()])
  try {
    return await starting
  } catch {
    starting = null
    return null
  }
}

export const lineToken = async (liffId: string | null): Promise<string | null> =>
  (await lineBridge(liffId))?.token() ?? null

/** The current token, without waiting for LINE. */
export const lineTokenNow = (): string | null => bridge?.token() ?? null

/** Logs in again after the token has expired: the SDK keeps an expired one. */
export async function logInAgain(liffId: string | null): Promise<void> {
  const line = await lineBridge(liffId)
  // Most browsers do not load a script again after it has failed once.
  if (line === null) location.reload()
  else line.logIn()
}

/** Whether the page runs in LINE's own browser, which opens links in its chats. */
export const inLine = /\bLine\//.test(navigator.userAgent)

/** Opens an address in the phone's browser: LINE reads the parameter. */
function openOutside(url: string): void {
  const address = new URL(url)
  address.searchParams.set('openExternalBrowser', '1')
  location.assign(address)
}

/** Leaves LINE's own browser; null outside it. */
export const leaveLine = (): LineBridge['leaveLine'] => bridge?.leaveLine ?? (inLine ? openOutside : null)

interface Claims {
  readonly sub?: unknown
  readonly name?: unknown
}

/** Claims of a token. The service verifies them; here they only supply id and name. */
function claimsOf(token: string): Claims {
  try {
    const [, payload = ''] = token.split('.')
    const bytes = Uint8Array.from(atob(payload.replaceAll('-', '+').replaceAll('_', '/')), (c) =>
      c.charCodeAt(0),
    )
    return JSON.parse(new TextDecoder().decode(bytes)) as Claims
  } catch {
    return {}
  }
}

export function lineUserId(token: string): string | null {
  const { sub } = claimsOf(token)
  return typeof sub === 'string' ? sub : null
}

/** The name at LINE, if the pilgrim shares it. */
export function lineName(token: string): string | null {
  const { name } = claimsOf(token)
  return typeof name === 'string' ? name : null
}
