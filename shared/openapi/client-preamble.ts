/** The types that the client's generated interfaces refer to. */

export const PREAMBLE = `/** No field. */
export type Nothing = Record<never, never>

/** A pilgrim's request: \`user_id\` may be left to the client's identity. */
export type Caller<T> = T extends unknown ? Omit<T, 'user_id'> & { user_id?: string | undefined } : never

/** A body that is sent as it is: a picture, for example. */
export interface RawBody {
  body: Blob | ArrayBuffer | Uint8Array<ArrayBuffer> | FormData | string
}`
