/** Every table, by the service that owns it. */
export * from './cards.ts'
export * from './events.ts'
export * from './feedback.ts'
export * from './flushing.ts'
export * from './operations.ts'
export * from './profiles.ts'
export * from './totals.ts'
export * from './tracking.ts'
