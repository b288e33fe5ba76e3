/** A new id, and the words of a typed recovery code. */
import { appIdOf, BYTES } from '#shared/core/rules/app-id.ts'

export const newAppId = (): string => appIdOf(crypto.getRandomValues(new Uint8Array(BYTES)))

/** The address that brings the walk to another phone or browser. After # nothing leaves the phone. */
export const restoreAddress = (userId: string): string =>
  `${location.origin}${location.pathname}#restore=${userId}`

/** The words of a typed code, split at blanks, digits and punctuation, and between Chinese characters. */
export const splitCode = (typed: string): readonly string[] =>
  typed
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/\p{Script=Han}/gu, ' $& ')
    .split(/[^\p{L}\p{M}]+/u)
    .filter((word) => word !== '')
