/**
 * What answers without a token reveal about where and when a pilgrim is. `references.ts` prints each entry with the
 * fields of the contracts.
 */
export interface PublicAnswer {
  /** Ids of the operations. */
  readonly answers: string
  /** Fields, if other entries have the rest of these answers; otherwise all fields. */
  readonly fields?: string
  readonly reveals: string
}

export const PUBLIC_ANSWERS: readonly PublicAnswer[] = [
  {
    answers: 'readMap',
    fields: 'points id lat lng recorded_at generated_at',
    reveals:
      'the cell and the minute of a crowd of the last day, never of one person (with `EVENT_MAP_CROWD=1`: the place of each pilgrim to 5 m). An id belongs to a place and changes every hour',
  },
  { answers: 'readMap', fields: 'userId display_name', reveals: 'nothing: only operators get these' },
  {
    answers: 'readEventMap',
    fields:
      'since version as_of stale seen_since on_map cells front middle tail palanquin seen_at lat lng route_km station speed_kmh estimates front_at middle_at by',
    reveals:
      'nothing beyond the crowds of `GET data`, from which they are computed; the place of the palanquin, once an operator has named its device',
  },
  {
    answers: 'readEventMap',
    fields:
      'event name names language languages settings_version followed starts_at ends_at time_zone crowd rehearsal route status message messages totals pilgrims km carbon_saved_kg levels',
    reveals: 'sums of the last flush; counts below the crowd are omitted',
  },
  {
    answers: 'readProfile syncProfile',
    fields:
      'userId display_name picture_url level level_name zh en icon survey_completed privacy_agreed privacy_agreed_at privacy_version participant_status achievement_card photo_count palanquin',
    reveals: 'no place; `palanquin` only with proof. A pilgrim who has withdrawn shows level and name alone',
  },
  {
    answers: 'readProfile syncProfile',
    fields: 'km next_level km_needed carbon_kg carbon_saved_kg',
    reveals:
      'rounded while the event runs: a stretch of 5 km of the route, if the pilgrim follows it from a known start',
  },
  {
    answers: 'readProfile syncProfile',
    fields: 'checkins checkins_needed pending',
    reveals: 'that the pilgrim checked in now, not where; `pending` is null or absent',
  },
  { answers: 'readProfile syncProfile', fields: 'first_seen last_seen', reveals: 'the day' },
  {
    answers: 'readProfile syncProfile setPhone',
    fields: 'phone userId',
    reveals: 'that there is a phone number; none of its digits',
  },
  { answers: 'countPhotos', reveals: 'nothing' },
  {
    answers: 'readBoard listFeedback',
    fields:
      'items id category description status created_at updated_at resolved_at next_cursor counts new triaging fixing fixed wontfix',
    reveals: 'the text of a report, not its author',
  },
  {
    answers: 'listFeedback',
    fields:
      'userId display_name screenshot_url device_info user_agent contact admin_note hidden_at hidden_reason marks',
    reveals: 'nothing: only operators get these',
  },
  {
    answers: 'readScreenshot submitFeedback uploadScreenshot',
    reveals: 'nothing: names of pictures cannot be guessed',
  },
  {
    answers: 'readCard drawCard',
    reveals:
      'name, rounded figures, and stretches between whole stations on past days; the picture, its size and its `ETag` change with these',
  },
  {
    answers: 'showShare viewShare',
    reveals:
      'to holders of the link, what its pilgrim chose to show: the card, or for some hours the place; nothing from before',
  },
  {
    answers: 'createShare changeShare listShares revokeShare',
    reveals:
      'only with proof: lists, and links that show the place. Other links show a card. Ids cannot be guessed',
  },
  {
    answers: 'createTracker listTrackers revokeTracker',
    reveals:
      'only with proof: the list, and revoking; with open identity its times are whole hours. Creating one reveals nothing',
  },
  {
    answers:
      'ingestOwntracks ingestOwntracksQuery ingestOverland ingestOverlandQuery ingestTraccar ingestTraccarQuery ingestOsmand ingestOsmandPosted ingestGpslogger ingestGpsloggerQuery loadGpsloggerProfile',
    reveals: 'nothing: the key is secret',
  },
  {
    answers: 'listPushSubscriptions subscribeToPush unsubscribeFromPush',
    reveals:
      'only with proof: the list, and removing. Otherwise only the device that the request itself sent',
  },
  {
    answers: 'checkIn syncTrack submitSurvey submitSurveyAlias',
    reveals:
      'what the request itself sent; `pending`, `revision` and a 429 show that this id has sent recently, not where',
  },
  {
    answers: 'raiseEmergency',
    reveals:
      'to callers who know the millisecond of the press: that an operator confirmed it, and whether anyone is alerted',
  },
  {
    answers: 'setParticipantStatus setPrivacy',
    reveals:
      'one place on the map, once an hour at most, to a caller who hides somebody: its count falls at once, and rises again only at the full hour',
  },
  {
    answers: 'eraseOwnData exportOwnData readOwnWalk',
    reveals: 'everything, and only with proof; files name no id',
  },
  {
    answers: 'readHealth',
    reveals:
      'how many pilgrims have pending points, when points were last stored, and the moment of the newest restorable backup',
  },
  {
    answers:
      'readEventConfig readEventNotice readSurveyForm readTranslatedWords readRoute readApiIndex readIndex readOpenApi showDocs readDocsScript receiveWebhook',
    reveals: 'nothing: they are the operators’ settings and files',
  },
]
