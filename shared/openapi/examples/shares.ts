/** Examples of links that a pilgrim passes on. */

const ME = 'w-5hk3q7d2m9x0c4v8b1n6r2t7ye'
const ID = 'kT2vXq8ZrB0mWc5NfJ7eLp1d'

const SHARE = {
  id: ID,
  url: `https://event.example/s/${ID}`,
  image_url: `https://event.example/s/${ID}.png`,
  live_until: '2026-04-12T09:30:00.000Z',
  show_name: true,
  created_at: '2026-04-12T01:30:00.000Z',
  expires_at: '2026-10-09T01:30:00.000Z',
  views: 12,
  last_viewed_at: '2026-04-12T03:41:00.000Z',
}

export const SHARES = {
  createShare: {
    body: { user_id: ME, live_hours: 8, show_name: true },
    answer: { ...SHARE, views: 0, last_viewed_at: null },
  },
  listShares: { query: { user_id: ME }, answer: { items: [SHARE] } },
  changeShare: {
    params: { id: ID },
    body: { user_id: ME, live_hours: null },
    answer: { ...SHARE, live_until: null },
  },
  revokeShare: { params: { id: ID }, query: { user_id: ME }, answer: { id: ID, revoked: true } },
  viewShare: { params: { id: ID }, answer: { counted: true } },
  showShare: { params: { file: ID } },
}
