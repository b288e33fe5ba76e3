/** Names of submissions. */

const PROCESS = Buffer.from(crypto.getRandomValues(new Uint8Array(6))).toString('base64url')
let count = 0

/** A name that no other submission has, of this process or of another. Short: windows keep it. */
export const submissionId = (): string => `${PROCESS}${(count++).toString(36)}`
