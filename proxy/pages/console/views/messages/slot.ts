import type { Data } from '#shared/client/index.ts'

/** A scheduled notification. */
export type Slot = Data<'readNotifications'>['slots'][number]
