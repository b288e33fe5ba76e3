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
  userId: 'pilgrim-7',
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

const STREAM = `id: 7-0
event: snapshot
data: {"at":"2026-04-12T01:31:05.000Z","resumed":false,"status":{"status":"active","message":null,"changed_at":"2026-04-12T00:00:00.000Z","changed_by":null},"ending":null,"counts":null,"incident":null}

`

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
  readLedger: {
    answer: {
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
    },
  },
  listDeadLetters: { query: { limit: 50 }, answer: { items: [LETTER], next_cursor: null } },
  readDeadLetter: { params: { id: 1 }, answer: LETTER },
  requeueDeadLetter: { params: { id: 1 }, answer: { id: 1, outcome: 'replayed' } },
  dropDeadLetter: { params: { id: 2 }, answer: { id: 2 } },
  forceFlush: { answer: { finished: true, stored: 3, duplicates: 0, dead_letters: 0 } },
  openStream: { query: { zoom: 10 }, answer: STREAM },
  readOpenApi: { answer: { openapi: '3.1.0' } },
  showDocs: {},
  showHome: { query: { lang: 'zh-Hant' } },
}
