/** Examples of feedback, screenshots and share cards. */

const BOARD_ITEM = {
  id: 1,
  category: 'route',
  description: 'The water station after the bridge is closed.',
  status: 'new',
  created_at: '2026-04-12T02:00:00.000Z',
  updated_at: '2026-04-12T02:00:00.000Z',
  resolved_at: null,
}

/** A picture of one pixel. */
const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=='

export const FEEDBACK = {
  submitFeedback: {
    body: {
      user_id: 'w-5hk3q7d2m9x0c4v8b1n6r2t7ye',
      report_id: 'c56a4180-65aa-42ec-a945-5fd21dec0538',
      category: 'route',
      description: 'The water station after the bridge is closed.',
      contact: 'ming@example.org',
    },
    answer: { id: 1, status: 'new' },
  },
  listFeedback: {
    query: { limit: 20, status: 'new' },
    answer: { items: [BOARD_ITEM], next_cursor: null },
  },
  readBoard: {
    query: { limit: 20 },
    answer: {
      items: [BOARD_ITEM],
      next_cursor: null,
      counts: { new: 1, triaging: 0, fixing: 0, fixed: 0, wontfix: 0 },
    },
  },
  updateFeedback: {
    params: { id: 1 },
    body: {
      status: 'fixed',
      admin_note: 'The station is open again.',
      seen: { status: 'new', admin_note: null },
    },
    answer: {
      ...BOARD_ITEM,
      status: 'fixed',
      updated_at: '2026-04-12T03:00:00.000Z',
      resolved_at: '2026-04-12T03:00:00.000Z',
      userId: 'w-5hk3q7d2m9x0c4v8b1n6r2t7ye',
      display_name: '阿明',
      screenshot_url: null,
      device_info: null,
      user_agent: null,
      contact: 'ming@example.org',
      admin_note: 'The station is open again.',
    },
  },
  uploadScreenshot: {
    body: { image: PIXEL },
    answer: {
      filename: '3f0c9a7be1d24c6f8a5b0e9d7c6a1f42.png',
      url: 'https://event.example/api/event/feedback-image/3f0c9a7be1d24c6f8a5b0e9d7c6a1f42.png',
    },
  },
  readScreenshot: { params: { file: '3f0c9a7be1d24c6f8a5b0e9d7c6a1f42.png' } },
  drawCard: {
    body: { user_id: 'w-5hk3q7d2m9x0c4v8b1n6r2t7ye' },
    answer: {
      url: 'https://event.example/api/event/og/w-5hk3q7d2m9x0c4v8b1n6r2t7ye.png',
      width: 1200,
      height: 630,
      etag: '"1k2m3n4p"',
    },
  },
  readCard: { params: { file: 'w-5hk3q7d2m9x0c4v8b1n6r2t7ye.png' } },
}
