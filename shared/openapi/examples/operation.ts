/** Examples of operating the event: status, health, ledger, stream. */

const ACTIVITY = {
  status: 'active',
  message: null,
  changed_at: '2026-04-12T00:00:00.000Z',
  changed_by: null,
  ending: null,
}

const LETTER = {
  id: 1,
  userId: 'w-5hk3q7d2m9x0c4v8b1n6r2t7ye',
  field: 't1775957430000',
  value: '[0,1775957430000,24.1481,120.6731,1]',
  reason: 'new row violates check constraint',
  refusals: 1,
  refused_at: '2026-04-12T01:35:00.000Z',
}

const HEALTH = {
  status: 'ok',
  db: 'ok',
  kv: 'ok',
  objects: 'ok',
  last_flush: '2026-04-12T01:35:00.000Z',
  buffer_size: 1,
}

const LEDGER = {
  received: 3,
  stored: 2,
  duplicate: 0,
  rejected: {},
  pending: 1,
  journaled: 0,
  dead_letter: 0,
  erased: 0,
  lost: 0,
  in_flight: 0,
  losses: [],
  as_of: '2026-04-12T01:36:00.000Z',
}

const STREAM = `id: 7-0
event: snapshot
data: {"at":"2026-04-12T01:31:05.000Z","resumed":false,"status":{"status":"active","message":null,"changed_at":"2026-04-12T00:00:00.000Z","changed_by":null},"ending":null,"counts":null,"incident":null}

`

const INDEX = {
  name: '白沙屯媽祖進香',
  docs: 'https://event.example/api/event/docs',
  openapi: 'https://event.example/api/event/openapi.json',
}

export const OPERATION = {
  readRole: { answer: { role: 'manager', level: 2, name: 'lin' } },
  readStatus: { answer: ACTIVITY },
  setStatus: {
    body: { status: 'paused', message: '雷雨，暫停。請就近避雨。' },
    answer: {
      ...ACTIVITY,
      status: 'paused',
      message: '雷雨，暫停。請就近避雨。',
      changed_at: '2026-04-12T07:00:00.000Z',
      changed_by: 'lin',
    },
  },
  previewEnd: {
    answer: {
      status: 'active',
      points_waiting: 3,
      pilgrims_waiting: 1,
      points_journaled: 0,
      cards: { done: 0, total: 1 },
      as_of: '2026-04-12T09:59:00.000Z',
    },
  },
  endActivity: {
    answer: {
      ...ACTIVITY,
      status: 'ended',
      changed_at: '2026-04-12T10:00:00.000Z',
      changed_by: 'lin',
      ending: { flush: 'running', cards: { done: 0, total: null }, summary: 'waiting' },
    },
  },
  readHealth: { answer: { ok: true, data: HEALTH, ...HEALTH } },
  readLedger: { answer: LEDGER },
  readCondition: {
    answer: {
      parts: [
        {
          name: 'tracking',
          kind: 'service',
          state: 'ok',
          seen_at: '2026-04-12T01:35:58.000Z',
          processes: { running: 2, silent: 0 },
        },
        { name: 'db', kind: 'store', state: 'ok', seen_at: '2026-04-12T01:36:00.000Z', processes: null },
      ],
      last_flush: '2026-04-12T01:35:00.000Z',
      oldest_pending: '2026-04-12T01:35:10.000Z',
      ledger: LEDGER,
      kv_memory: 0.12,
      incident: null,
      causes: [],
      alerting: {
        channel: 'line',
        line: true,
        recipient: true,
        within_s: 15,
        repeats_min: [10, 30, 60, 120, 240],
        conditions: [
          {
            key: 'database',
            when: { 'zh-Hant': '資料庫沒有回應', en: 'The database does not answer' },
            what_to_do: {
              'zh-Hant': '檢查 Postgres 是否在執行、磁碟是否已滿；打卡仍會被接收並緩存三天。',
              en: 'Check that Postgres runs and that its disk is not full; check-ins are still accepted and kept for three days.',
            },
          },
        ],
      },
      backup_at: '2026-04-12T00:00:00.000Z',
      as_of: '2026-04-12T01:36:00.000Z',
    },
  },
  readLastHour: {
    answer: {
      walking: { pilgrims: 55, checked_in: 23, silent: 6, as_of: '2026-04-12T01:35:00.000Z' },
      received: {
        since: '2026-04-12T01:35:40.000Z',
        through: '2026-04-12T01:36:00.000Z',
        points: 27,
        checkins: 1,
        steps: [
          [12, 0],
          [15, 1],
        ],
      },
    },
  },
  listTokens: {
    answer: {
      items: [
        { name: 'lin', role: 'manager', fingerprint: '5e884898', last_used: '2026-04-12T01:36:00.000Z' },
      ],
      as_of: '2026-04-12T01:36:00.000Z',
    },
  },
  listDeadLetters: { query: { limit: 50 }, answer: { items: [LETTER], next_cursor: null } },
  readDeadLetter: { params: { id: 1 }, answer: LETTER },
  requeueDeadLetter: { params: { id: 1 }, answer: { id: 1, outcome: 'replayed' } },
  dropDeadLetter: { params: { id: 2 }, answer: { id: 2 } },
  forceFlush: { answer: { finished: true, stored: 3, duplicates: 0, dead_letters: 0 } },
  openStream: { query: { zoom: 10 }, answer: STREAM },
  readIndex: { answer: INDEX },
  readApiIndex: { answer: INDEX },
  readOpenApi: { answer: { openapi: '3.1.0' } },
  showDocs: {},
  readDocsScript: {},
}
