/** Examples of what pilgrims send and read. */

const TRACK = {
  accepted: 2,
  duplicates: 0,
  rejected: [],
  durable_through: '2026-04-12T01:31:00.000Z',
}

export const PROFILE = {
  userId: 'w-5hk3q7d2m9x0c4v8b1n6r2t7ye',
  display_name: '阿明',
  picture_url: null,
  level: 2,
  level_name: { zh: '初行者', en: 'Beginner' },
  icon: '🌱',
  km: 12.34,
  checkins: 3,
  next_level: { level: 3, km_needed: 17.66, checkins_needed: 2 },
  carbon_kg: 0,
  carbon_saved_kg: 1.27,
  phone: '••••••••78',
  survey_completed: 1,
  privacy_agreed: true,
  privacy_agreed_at: '2026-04-12T01:00:00.000Z',
  privacy_version: '2026-1',
  participant_status: 'active',
  achievement_card: 'locked',
  photo_count: 0,
  first_seen: '2026-04-12',
  last_seen: '2026-04-12',
}

const SURVEY = {
  body: {
    user_id: 'w-5hk3q7d2m9x0c4v8b1n6r2t7ye',
    survey: { q1: 'yes', q2: 4, q3: ['walk', 'train'], q3_reason: '想走完全程' },
    phone: '0912 345 678',
    line_display_name: '阿明',
  },
  answer: {
    userId: 'w-5hk3q7d2m9x0c4v8b1n6r2t7ye',
    submitted_at: '2026-04-12T01:40:00.000Z',
    answers: 4,
    revision: 1,
    track: null,
    phone: 'stored',
    ignored: [],
  },
}

export const PILGRIMS = {
  checkIn: {
    body: {
      user_id: 'w-5hk3q7d2m9x0c4v8b1n6r2t7ye',
      lat: 24.1477,
      lng: 120.6736,
      timestamp: '2026-04-12T01:30:00.000Z',
      accuracy: 8,
      mode: 'walk',
    },
    answer: {
      userId: 'w-5hk3q7d2m9x0c4v8b1n6r2t7ye',
      recorded_at: '2026-04-12T01:30:00.000Z',
      duplicate: false,
      pending: 1,
      in_range: true,
      clock_corrected: false,
    },
  },
  syncTrack: {
    body: {
      user_id: 'w-5hk3q7d2m9x0c4v8b1n6r2t7ye',
      points: [
        { lat: 24.1481, lng: 120.6731, timestamp: '2026-04-12T01:30:30.000Z', accuracy: 8, speed: 4.5 },
        { lat: 24.1486, lng: 120.6726, timestamp: '2026-04-12T01:31:00.000Z', accuracy: 12, speed: 4.8 },
      ],
    },
    answer: TRACK,
  },
  readMap: {
    query: { limit: 1000, bbox: '120,23,121,25' },
    answer: {
      points: [{ id: 'c4n8w1', lat: 24.1476, lng: 120.674, recorded_at: '2026-04-12T01:30:00.000Z' }],
      generated_at: '2026-04-12T01:31:05.000Z',
    },
  },
  submitSurvey: SURVEY,
  submitSurveyAlias: SURVEY,
  readProfile: { params: { userId: 'w-5hk3q7d2m9x0c4v8b1n6r2t7ye' }, answer: PROFILE },
  syncProfile: {
    body: {
      user_id: 'w-5hk3q7d2m9x0c4v8b1n6r2t7ye',
      display_name: '阿明',
      language: 'zh-TW',
      consumption: { water: 2, hotel: 1 },
      transport: { train: 42.5 },
    },
    answer: PROFILE,
  },
  setPhone: {
    body: { user_id: 'w-5hk3q7d2m9x0c4v8b1n6r2t7ye', phone: '0912 345 678' },
    answer: { userId: 'w-5hk3q7d2m9x0c4v8b1n6r2t7ye', phone: '••••••••78' },
  },
  setPrivacy: {
    body: { user_id: 'w-5hk3q7d2m9x0c4v8b1n6r2t7ye', agreed: true, version: '2026-1' },
    answer: {
      userId: 'w-5hk3q7d2m9x0c4v8b1n6r2t7ye',
      privacy_agreed: true,
      privacy_agreed_at: '2026-04-12T01:00:00.000Z',
      version: '2026-1',
    },
  },
  setParticipantStatus: {
    body: { user_id: 'w-5hk3q7d2m9x0c4v8b1n6r2t7ye', status: 'completed' },
    answer: { userId: 'w-5hk3q7d2m9x0c4v8b1n6r2t7ye', participant_status: 'completed' },
  },
  countPhotos: {
    query: { user_id: 'w-5hk3q7d2m9x0c4v8b1n6r2t7ye' },
    answer: { userId: 'w-5hk3q7d2m9x0c4v8b1n6r2t7ye', photo_count: 0 },
  },
}
