/** Examples of the LINE bot and of messages to pilgrims. */

const PUSH = '6f1c2b9a-4d3e-4f5a-8b7c-9d0e1f2a3b4c'

const LEFT_OUT = { unreachable: 3, withdrawn: 1, no_line_id: 12 }

const SLOTS = [
  {
    id: 'morning',
    enabled: true,
    hour: 6,
    dates: null,
    audience: 'participants',
    text: { 'zh-Hant': '早安，今天也平安行走。', en: 'Good morning. Walk safely today.' },
  },
]

const SENT = {
  id: PUSH,
  cause: 'push',
  audience: { audience: 'all' },
  state: 'sent',
  recipients: 812,
  sent: 810,
  waiting: 0,
  failed: 2,
  skipped: 0,
  attempts: 2,
  left_out: LEFT_OUT,
  web_push: { sent: 95, waiting: 0, failed: 1 },
  created_at: '2026-04-12T06:30:00.000Z',
  created_by: 'lin',
  completed_at: '2026-04-12T06:30:04.000Z',
}

export const MESSAGES = {
  receiveWebhook: {
    headers: { 'X-Line-Signature': '<signature>' },
    body: {
      destination: 'U00000000000000000000000000000000',
      events: [
        {
          type: 'follow',
          webhookEventId: '01HV8XK5E0Q2W3R4T5Y6U7I8O9',
          timestamp: 1775957400000,
          source: { type: 'user', userId: 'U11111111111111111111111111111111' },
        },
      ],
    },
    answer: { received: 1 },
  },
  readMenus: {
    answer: {
      configured: true,
      menus: [
        {
          language: 'zh-Hant',
          menu_id: 'richmenu-0a1b2c',
          digest: '9d1f3c',
          deployed_at: '2026-04-12T00:10:00.000Z',
          current: true,
        },
      ],
    },
  },
  deployMenus: {
    answer: {
      skipped: false,
      menus: [{ language: 'zh-Hant', menu_id: 'richmenu-0a1b2c', changed: true }],
    },
  },
  sendPush: {
    body: { audience: 'all', text: '下午三點後有雷雨，請就近休息。', dry_run: false },
    answer: { id: PUSH, recipients: 812, cost: 812, quota_remaining: 4188, left_out: LEFT_OUT, devices: 96 },
  },
  listMessages: {
    query: { limit: 50 },
    answer: { items: [{ ...SENT, text: '下午三點後有雷雨，請就近休息。' }], next_cursor: null },
  },
  readPush: {
    params: { id: PUSH },
    answer: {
      ...SENT,
      faults: [
        {
          detail: 'The user has blocked the account',
          recipients: 2,
          people: [
            { userId: 'U11111111111111111111111111111111', display_name: '林怡君' },
            { userId: 'U22222222222222222222222222222222', display_name: null },
          ],
        },
      ],
    },
  },
  listLeftOut: {
    query: { audience: 'participants', limit: 50 },
    answer: {
      items: [
        {
          userId: 'U33333333333333333333333333333333',
          display_name: '陳志明',
          reason: 'unreachable',
          devices: 1,
        },
      ],
      next_cursor: null,
    },
  },
  readLineUsage: {
    answer: {
      quota: { type: 'limited', value: 5000 },
      consumption: { total_usage: 812 },
      remaining: 4188,
      usage_percent: 16.2,
      followers: 815,
      configured: true,
    },
  },
  readNotifications: {
    answer: { slots: SLOTS, defaults: true, changed_at: null, changed_by: null },
  },
  setNotifications: {
    body: { slots: SLOTS },
    answer: { slots: SLOTS, defaults: false, changed_at: '2026-04-12T00:20:00.000Z', changed_by: 'lin' },
  },
}
