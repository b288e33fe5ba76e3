/** The words of a typed code, split at blanks, digits and punctuation, and between Chinese characters. */
export const splitCode = (typed: string): readonly string[] =>
  typed
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/\p{Script=Han}/gu, ' $& ')
    .split(/[^\p{L}\p{M}]+/u)
    .filter((word) => word !== '')
