/** Examples of Web Push. */

const ME = 'w-5hk3q7d2m9x0c4v8b1n6r2t7ye'
const ID = '2f6d3b1e-8c4a-4f7d-9a51-6e0c2b7d4f18'

const DEVICE = {
  id: ID,
  push_service: 'fcm.googleapis.com',
  created_at: '2026-04-12T01:00:00.000Z',
}

export const PUSH_SUBSCRIPTIONS = {
  subscribeToPush: {
    body: {
      user_id: ME,
      endpoint: 'https://fcm.googleapis.com/fcm/send/eXampLe0nly',
      // RFC 8291, appendix A.
      keys: {
        p256dh: 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
        auth: 'BTBZMqHH6r4Tts7J_aSIgg',
      },
    },
    answer: DEVICE,
  },
  listPushSubscriptions: { query: { user_id: ME }, answer: { items: [DEVICE] } },
  unsubscribeFromPush: { params: { id: ID }, query: { user_id: ME }, answer: { id: ID } },
}
