/** The client of the service: typed calls, the operators' events, and the phone's offline queue. */
export type * from './api.ts'
export type { Answer, ClientError, ClientErrorCode, Failure, Success } from './answer.ts'
export {
  type CallOptions,
  type Client,
  type ClientOptions,
  createClient,
  type Data,
  type Download,
  type Input,
} from './create-client.ts'
export type { Identity } from './build-request.ts'
export type { Fetch } from './exchange.ts'
export type { Interruption, StreamEvent, StreamOptions } from './stream.ts'
