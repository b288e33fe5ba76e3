/** LINE's SDK behind four functions. Only this file imports it. */
import { liff } from '@line/liff'
import type { LineBridge } from './line-login.ts'

export const openLine = (): LineBridge => {
  let leaves: LineBridge['leaveLine'] = null
  return {
    async start(liffId) {
      await liff.init({ liffId })
      if (liff.isInClient()) leaves = (url) => liff.openWindow({ url, external: true })
    },
    token: () => (liff.isLoggedIn() ? liff.getIDToken() : null),
    logIn() {
      // Without it, the SDK gives the expired token again.
      if (liff.isLoggedIn()) liff.logout()
      liff.login({ redirectUri: location.href })
    },
    get leaveLine() {
      return leaves
    },
  }
}
