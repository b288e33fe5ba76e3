/**
 * Tables with personal data: every table with a column `user_id`. An export reads them and an erasure deletes the
 * pilgrim's rows. A test fails if a table is missing here.
 */
export const PERSONAL_TABLES = [
  'pilgrims',
  'surveys',
  'survey_history',
  'consents',
  'role_assignments',
  'followers',
  'refused_line_events',
  'feedback',
  'share_cards',
  'shares',
  'trackers',
  'push_subscriptions',
  'push_deliveries',
  'pilgrim_totals',
  'pilgrim_days',
  'dead_letters',
  'gps_points',
] as const

export type PersonalTable = (typeof PERSONAL_TABLES)[number]
