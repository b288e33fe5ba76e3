/** A new id, and the words of a typed recovery code. */
import { appIdOf, BYTES } from '#shared/core/rules/app-id.ts'

export const newAppId = (): string => appIdOf(crypto.getRandomValues(new Uint8Array(BYTES)))

/** The words of a typed code, split at blanks, digits and punctuation, and between Chinese characters. */
export const splitCode = (typed: string): readonly string[] =>
  typed
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/\p{Script=Han}/gu, ' $& ')
    .split(/[^\p{L}\p{M}]+/u)
    .filter((word) => word !== '')
