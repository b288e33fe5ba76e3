/** The client of the service: typed calls, the operators' events, and the phone's offline queue. */
export type * from './api.ts'
export type { Answer, ClientError, ClientErrorCode, Failure, Fetch, Success } from './answer.ts'
export {
  type CallOptions,
  type Client,
  type ClientOptions,
  createClient,
  type Data,
  type Download,
  type Identity,
  type Input,
} from './create-client.ts'
export type { Interruption, StreamEvent, StreamOptions } from './stream.ts'
export { createTrackQueue, type TrackQueue, type TrackQueueOptions } from './queue/create-track-queue.ts'
export type { Kept } from './queue/queued-point.ts'
export { createMemoryStore } from './queue/memory-store.ts'
export type { QueueState } from './queue/queue-state.ts'
export type { RecordedPoint } from './queue/queued-point.ts'
export type { Limits } from './queue/rounds.ts'
export type { Sent } from './queue/send-batch.ts'
export type {
  AddedKind,
  AddedKinds,
  Entry,
  Kind,
  PointFields,
  QueuedPoint,
  QueueStore,
  Rejected,
  RejectedPoint,
} from './queue/store.ts'
export type { Clock, Locks, Network } from './queue/clock-and-network.ts'
