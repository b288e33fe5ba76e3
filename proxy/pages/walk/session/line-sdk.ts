/**
 * LINE's SDK behind four functions. Only this file imports it, and only the modules it uses: the whole SDK
 * also loads scripts and texts from LINE's servers, which the content security policy blocks.
 */
import { liff } from '@line/liff/core'
import GetIDToken from '@line/liff/get-id-token'
import IsInClient from '@line/liff/is-in-client'
import IsLoggedIn from '@line/liff/is-logged-in'
import LogIn from '@line/liff/login'
import LogOut from '@line/liff/logout'
import OpenWindow from '@line/liff/open-window'
import type { LineBridge } from './line-login.ts'

liff.use(new GetIDToken())
liff.use(new IsInClient())
liff.use(new IsLoggedIn())
liff.use(new LogIn())
liff.use(new LogOut())
liff.use(new OpenWindow())

/** Parameters that LINE's log-in adds to the address. */
const ADDED = ['code', 'state', 'liffClientId', 'liffRedirectUri', 'friendship_status_changed']

/** Removes these parameters: the next log-in would send them back, and the SDK would read two codes. */
function cleanAddress(): void {
  const address = new URL(location.href)
  for (const name of ADDED) address.searchParams.delete(name)
  if (address.href !== location.href) history.replaceState(history.state, '', address)
}

/**
 * Resolves when the SDK has restored an earlier login. In LINE's browser it then asks LINE about the tokens,
 * which takes long on a slow network.
 */
const knowsPilgrim = (): Promise<void> =>
  new Promise((resolve) => {
    if (new URLSearchParams(location.search).has('code')) return
    setTimeout(() => liff.isLoggedIn() && resolve())
  })

/**
 * Resolves when the content security policy blocks a script of the SDK. On some Android phones its last step
 * shows a dialog from LINE's server, for which it would wait forever; everything else is done by then.
 */
const scriptRefused = (): Promise<void> =>
  new Promise((resolve) =>
    document.addEventListener('securitypolicyviolation', ({ effectiveDirective }) => {
      if (effectiveDirective.startsWith('script-src')) resolve()
    }),
  )

export const openLine = (): LineBridge => {
  let appUrl = ''
  return {
    async start(liffId) {
      appUrl = `https://liff.line.me/${liffId}`
      const refused = scriptRefused()
      const ready = liff.init({ liffId })
      // If it fails after the login was restored, there was no network.
      ready.catch(() => undefined)
      await Promise.race([ready, knowsPilgrim(), refused])
      cleanAddress()
    },
    token: () => (liff.isLoggedIn() ? liff.getIDToken() : null),
    logIn() {
      // Otherwise the SDK returns the expired token again.
      if (liff.isLoggedIn()) liff.logout()
      // LINE's own browser allows no log-in: the LINE app issues a new token for an address that it opens.
      if (liff.isInClient()) location.replace(appUrl)
      else liff.login({ redirectUri: location.origin + location.pathname })
    },
    get leaveLine() {
      return liff.isInClient() ? (url: string) => liff.openWindow({ url, external: true }) : null
    },
  }
}
