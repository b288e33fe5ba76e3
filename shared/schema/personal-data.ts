/**
 * Where a pilgrim's own rows are: every table with a column `user_id`. An export reads all of them, an erasure
 * empties them; a test fails when a table is missing here.
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
  'pilgrim_totals',
  'pilgrim_days',
  'dead_letters',
  'gps_points',
] as const

export type PersonalTable = (typeof PERSONAL_TABLES)[number]
