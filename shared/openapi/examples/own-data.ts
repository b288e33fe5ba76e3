/** Examples of what pilgrims read and decide about their own data, and of what an app asks at its start. */

const ME = 'w-5hk3q7d2m9x0c4v8b1n6r2t7ye'

export const OWN_DATA = {
  readEventConfig: {
    answer: {
      name: '白沙屯媽祖進香',
      time_zone: 'Asia/Taipei',
      identity: 'open',
      liff_id: null,
      privacy_version: '2026-1',
      push_key: null,
      status: 'active',
      message: null,
      starts_at: '2026-04-12T00:00:00.000Z',
      ends_at: null,
      as_of: '2026-04-12T01:30:00.000Z',
    },
  },
  readOwnWalk: {
    body: { user_id: ME, day: '2026-04-12' },
    answer: {
      userId: ME,
      as_of: '2026-04-12T01:32:00.000Z',
      pending: 1,
      days: [{ day: '2026-04-12', km: 0.07, checkins: 1, carbon_kg: 0 }],
      day: '2026-04-12',
      line: [
        { t: '2026-04-12T01:30:00.000Z', lat: 24.1477, lng: 120.6736 },
        { t: '2026-04-12T01:30:30.000Z', lat: 24.1481, lng: 120.6731 },
      ],
      stretches: [
        {
          from: '2026-04-12T01:30:00.000Z',
          to: '2026-04-12T01:30:30.000Z',
          mode: 'walk',
          inferred: false,
          km: 0.07,
          speed_kmh: 8.1,
          carbon_kg: 0,
        },
      ],
      checkins: [{ t: '2026-04-12T01:30:00.000Z', lat: 24.1477, lng: 120.6736, in_range: true }],
    },
  },
  exportOwnData: {
    body: { user_id: ME, format: 'json' },
    answer: {
      userId: ME,
      exported_at: '2026-04-12T08:00:00.000Z',
      gps_points: [
        { user_id: ME, sent_at: '2026-04-12T01:30:00.000Z', kind: 'c', lat: 24.1477, lng: 120.6736 },
      ],
      pending: [],
    },
  },
  eraseOwnData: {
    body: { user_id: ME, confirm: true },
    answer: {
      erased: { gps_points: 3, pilgrims: 1 },
      erased_at: '2026-04-12T08:30:00.000Z',
      remaining: [],
    },
  },
}
