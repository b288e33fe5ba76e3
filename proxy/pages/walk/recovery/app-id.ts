/** A new id, and the words of a typed recovery code. */
import { appIdOf, BYTES } from '#shared/core/rules/app-id.ts'

export const newAppId = (): string => appIdOf(crypto.getRandomValues(new Uint8Array(BYTES)))

/** Link that opens the walk on another phone or browser. The fragment after # is never sent to a server. */
export const restoreAddress = (userId: string): string =>
  `${location.origin}${location.pathname}#restore=${userId}`

/** The words of a typed code, split at spaces, digits and punctuation, and between Chinese characters. */
export const splitCode = (typed: string): readonly string[] =>
  typed
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/\p{Script=Han}/gu, ' $& ')
    .split(/[^\p{L}\p{M}]+/u)
    .filter((word) => word !== '')
