/** Ids of submissions. */

const PROCESS = Buffer.from(crypto.getRandomValues(new Uint8Array(6))).toString('base64url')
let count = 0

/** Returns an id that is unique across processes. It is short, because windows store it. */
export const submissionId = (): string => `${PROCESS}${(count++).toString(36)}`
