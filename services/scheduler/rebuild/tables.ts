/** The tables of totals that a rebuild reconciles. */
import type { Table } from './differences.ts'

const SUMS = { points: 'whole', checkins: 'whole', distance_mm: 'whole', carbon_mg: 'whole' } as const

export const TOTALS: Table = {
  name: 'pilgrim_totals',
  key: ['user_id'],
  columns: {
    user_id: 'text',
    ...SUMS,
    first_seen: 'instant',
    last_seen: 'instant',
    last_lat: 'number',
    last_lng: 'number',
  },
}

export const DAYS: Table = {
  name: 'pilgrim_days',
  key: ['user_id', 'day'],
  columns: {
    user_id: 'text',
    day: 'day',
    ...SUMS,
    hours: 'whole',
    anchor_lat: 'number',
    anchor_lng: 'number',
    anchor_at: 'instant',
    before_lat: 'number',
    before_lng: 'number',
    before_at: 'instant',
  },
}

export const EVENT_HOURS: Table = {
  name: 'event_hours',
  key: ['hour'],
  columns: { hour: 'instant', ...SUMS, pilgrims: 'whole' },
}

export const EVENT_DAYS: Table = {
  name: 'event_days',
  key: ['day'],
  columns: { day: 'day', pilgrims: 'whole' },
}

export const EVENT_MODES: Table = {
  name: 'event_modes',
  key: ['day', 'mode'],
  columns: { day: 'day', mode: 'text', distance_mm: 'whole', carbon_mg: 'whole' },
}
