/** Examples of the public map and the route. */

const PLACE = { lat: 24.147, lng: 120.674, route_km: 31.2, station: 0 }

export const MAP = {
  readEventMap: {
    answer: {
      since: null,
      version: 1775957460,
      as_of: '2026-04-12T01:31:00.000Z',
      event: {
        name: '白沙屯媽祖進香',
        starts_at: '2026-04-12T00:00:00.000Z',
        ends_at: null,
        time_zone: 'Asia/Taipei',
        crowd: 5,
        route: '1x2y3z',
      },
      status: 'active',
      message: null,
      stale: [],
      seen_since: '2026-04-12T00:31:00.000Z',
      on_map: 120,
      cells: [[2414700, 12067400, 14, 120]],
      front: { ...PLACE, route_km: 32.6 },
      middle: PLACE,
      tail: { ...PLACE, route_km: 29.9 },
      speed_kmh: 3.8,
      estimates: [
        { station: 1, front_at: '2026-04-12T03:00:00.000Z', middle_at: '2026-04-12T03:20:00.000Z' },
      ],
      totals: {
        as_of: '2026-04-12T01:30:00.000Z',
        pilgrims: 140,
        km: 3120,
        carbon_saved_kg: 321,
        levels: [60, 40, 20, 10, 5, 3, 1, 1, 0],
      },
    },
  },
  readRoute: {
    answer: {
      version: '1x2y3z',
      km: 96.4,
      lines: [[2456780, 12070950, -310, 120, -295, 88]],
      stations: [
        {
          name: '拱天宮',
          names: { en: 'Gongtian Temple' },
          lat: 24.5678,
          lng: 120.7095,
          route_km: 0,
        },
      ],
    },
  },
}
