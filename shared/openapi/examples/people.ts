/** Examples of operators' work with pilgrims. */
import { PROFILE } from './pilgrims.ts'

const POINT = {
  user_id: 'w-5hk3q7d2m9x0c4v8b1n6r2t7ye',
  sent_at: '2026-04-12T01:30:00.000Z',
  kind: 'c',
  lat: 24.1477,
  lng: 120.6736,
}

const VOLUNTEER = 'U11111111111111111111111111111111'

const ASSIGNMENT = {
  userId: VOLUNTEER,
  display_name: '阿明',
  role: 'volunteer',
  assigned_by: 'lin',
  assigned_at: '2026-04-12T00:30:00.000Z',
}

export const PEOPLE = {
  listUsers: {
    query: { limit: 50, sort: 'km', order: 'desc', search: 'pilgrim' },
    answer: {
      items: [
        {
          userId: 'w-5hk3q7d2m9x0c4v8b1n6r2t7ye',
          display_name: '阿明',
          km: 12.34,
          checkins: 3,
          level: 2,
          carbon_kg: 0,
          role: null,
          participant_status: 'active',
          survey_completed: 1,
          last_seen: '2026-04-12T01:31:00.000Z',
          pending: 1,
        },
      ],
      next_cursor: null,
      pending: 1,
    },
  },
  readUser: {
    params: { userId: 'w-5hk3q7d2m9x0c4v8b1n6r2t7ye' },
    answer: {
      ...PROFILE,
      phone: '0912 345 678',
      first_seen: '2026-04-12T01:30:00.000Z',
      last_seen: '2026-04-12T01:31:00.000Z',
      pending: 1,
      language: 'zh-TW',
      role: null,
      role_assigned_by: null,
      role_assigned_at: null,
      reachable: true,
      reachable_changed_at: null,
      privacy_version: '2026-1',
      consent_withdrawn: false,
      consents: [{ agreed: true, version: '2026-1', at: '2026-04-12T01:00:00.000Z' }],
      survey: { revision: 1, submitted_at: '2026-04-12T01:40:00.000Z', answers: { q1: 'yes', q2: 4 } },
      consumption: { water: 2, hotel: 1 },
      transport: { train: 42.5 },
      stored_points: 2,
      latest_day: {
        day: '2026-04-12',
        points: 3,
        left_out: { 'too-soon': 1, 'too-near': 0, 'too-fast': 0, 'same-instant': 0, rough: 0, outside: 1 },
        last: { lat: 24.05, lng: 120.55, recorded_at: '2026-04-12T01:30:00.000Z' },
        recorded_km: { walk: 1.2 },
        truncated: false,
      },
      recent_checkins: [
        {
          recorded_at: '2026-04-12T01:30:00.000Z',
          received_at: '2026-04-12T01:30:02.000Z',
          lat: 24.1477,
          lng: 120.6736,
          mode: 'walk',
          in_range: true,
          pending: false,
        },
      ],
      recent_feedback: [{ id: 1, category: 'route', status: 'new', created_at: '2026-04-12T02:00:00.000Z' }],
      push_devices: 1,
      trackers: [],
      shares: [
        {
          made_by: 'pilgrim',
          show_name: false,
          live_until: null,
          created_at: '2026-04-12T01:30:00.000Z',
          expires_at: '2026-10-09T01:30:00.000Z',
        },
      ],
      created_at: '2026-04-12T01:00:00.000Z',
      updated_at: '2026-04-12T01:40:00.000Z',
    },
  },
  listUserPoints: {
    params: { userId: 'w-5hk3q7d2m9x0c4v8b1n6r2t7ye' },
    query: { limit: 50, day: '2026-04-12' },
    answer: {
      items: [
        {
          kind: 'checkin',
          recorded_at: '2026-04-12T01:30:00.000Z',
          received_at: '2026-04-12T01:30:02.000Z',
          lat: 24.1477,
          lng: 120.6736,
          accuracy: 8,
          mode: 'walk',
          source: null,
          clock_corrected: false,
          pending: false,
          outcome: 'first',
          km: 0,
        },
      ],
      next_cursor: null,
      day: '2026-04-12',
      days: [{ day: '2026-04-12', points: 3, km: 0.17 }],
      way: [[120.6736, 24.1477]],
      total: 3,
      left_out: { 'too-soon': 1, 'too-near': 0, 'too-fast': 0, 'same-instant': 0, rough: 0, outside: 1 },
      truncated: false,
      pending: 0,
    },
  },
  listUserMessages: {
    params: { userId: 'w-5hk3q7d2m9x0c4v8b1n6r2t7ye' },
    answer: {
      items: [
        {
          id: '6f1c2b9a-4d3e-4f5a-8b7c-9d0e1f2a3b4c',
          cause: 'push',
          state: 'sent',
          text: '下午三點後有雷雨，請就近休息。',
          detail: null,
          created_at: '2026-04-12T06:30:00.000Z',
          created_by: 'lin',
          settled_at: '2026-04-12T06:30:04.000Z',
        },
      ],
    },
  },
  exportUser: {
    params: { userId: 'w-5hk3q7d2m9x0c4v8b1n6r2t7ye' },
    query: { format: 'json' },
    answer: {
      userId: 'w-5hk3q7d2m9x0c4v8b1n6r2t7ye',
      exported_at: '2026-04-12T08:00:00.000Z',
      gps_points: [POINT],
      pending: [],
    },
  },
  revokeTrackerOfUser: {
    params: { userId: 'w-5hk3q7d2m9x0c4v8b1n6r2t7ye', id: '3b8f0a1c-4a8e-4c6b-9d59-7d0f3c520b2e' },
    answer: { id: '3b8f0a1c-4a8e-4c6b-9d59-7d0f3c520b2e' },
  },
  revokeSharesOfUser: { params: { userId: 'w-5hk3q7d2m9x0c4v8b1n6r2t7ye' }, answer: { revoked: 1 } },
  eraseUser: {
    params: { userId: VOLUNTEER },
    answer: {
      erased: { gps_points: 3, pilgrims: 1 },
      erased_at: '2026-04-12T08:30:00.000Z',
      remaining: [],
    },
  },
  setUserStatus: {
    params: { userId: 'w-5hk3q7d2m9x0c4v8b1n6r2t7ye' },
    body: { status: 'active' },
    answer: { userId: 'w-5hk3q7d2m9x0c4v8b1n6r2t7ye', participant_status: 'active' },
  },
  listRoles: { query: { limit: 50 }, answer: { items: [ASSIGNMENT], next_cursor: null } },
  assignRole: {
    body: { user_id: VOLUNTEER, role: 'volunteer' },
    answer: { userId: VOLUNTEER, role: 'volunteer' },
  },
}
