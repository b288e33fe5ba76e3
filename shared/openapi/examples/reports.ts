/** Examples of reports about the whole event. */

const FIGURES = { points: 3, checkins: 1, pilgrims: 1, km: 0.17, carbon_kg: 0 }

export const REPORTS = {
  listSurveys: {
    query: { limit: 50 },
    answer: {
      items: [
        {
          userId: 'w-5hk3q7d2m9x0c4v8b1n6r2t7ye',
          display_name: '阿明',
          answers: { q1: 'yes', q2: 4 },
          revision: 1,
          submitted_at: '2026-04-12T01:40:00.000Z',
        },
      ],
      next_cursor: null,
      total: 1,
      responses: { q1: 1, q2: 1 },
      counts: { q1: { yes: 1 }, q2: { 4: 1 } },
    },
  },
  readCarbon: {
    answer: {
      total_kg: 1.74,
      mean_kg: 1.74,
      saved_kg: 2.7,
      pilgrims: 1,
      by_mode: { walk: { km: 0.17, kg: 0 }, train: { km: 42.5, kg: 1.74 } },
      recorded_km: { walk: 0.17 },
      by_day: [{ day: '2026-04-12', km: 0.17, kg: 0 }],
      consumption: { water: 2, recycle: 0, hotel: 1, kg: 0 },
      as_of: '2026-04-12T01:35:00.000Z',
    },
  },
  readTimeline: {
    answer: {
      time_zone: 'Asia/Taipei',
      days: [{ day: '2026-04-12', ...FIGURES }],
      hours: [{ hour: '2026-04-12T01:00:00.000Z', ...FIGURES }],
      entries: [{ at: '2026-04-12T00:00:00.000Z', kind: 'started', by: null, message: null }],
      as_of: '2026-04-12T01:35:00.000Z',
    },
  },
  listAudit: {
    query: { limit: 50 },
    answer: {
      items: [
        {
          id: 1,
          at: '2026-04-12T07:00:00.000Z',
          role: 'manager',
          token_name: 'lin',
          token_fingerprint: '5e884898',
          action: 'set-status',
          details: { status: 'paused' },
          display_name: null,
          request_id: '0f6f9c1e-6d0b-4c5e-9a55-5a3a2c1f7a10',
        },
      ],
      next_cursor: null,
    },
  },
  readClusters: {
    query: { zoom: 12, bbox: '120,23,121,25', k: 5 },
    answer: {
      type: 'FeatureCollection',
      features: [
        {
          type: 'Feature',
          id: '12/54/12',
          geometry: {
            type: 'Polygon',
            coordinates: [
              [
                [120.671875, 24.146875],
                [120.675, 24.146875],
                [120.675, 24.15],
                [120.671875, 24.15],
                [120.671875, 24.146875],
              ],
            ],
          },
          properties: { count: 120, users: 17 },
        },
      ],
      zoom: 12,
      requested_zoom: 12,
      since: null,
      front: { lat: 24.15, lng: 120.67, route_km: 31.2 },
      middle: { lat: 24.135, lng: 120.664, route_km: 29.5 },
      tail: { lat: 24.12, lng: 120.66, route_km: 27.8 },
      spread_km: 3.4,
      as_of: '2026-04-12T01:35:00.000Z',
    },
  },
}
