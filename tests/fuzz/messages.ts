/** Bodies that a schema describes too loosely: webhook deliveries and pushes. */
import fc from 'fast-check'
import { KEYS, spoilt } from './edges.ts'
import { hostileText } from './json.ts'
import { epoch, url, userId } from './schema.ts'

/** A delivery of the webhook. */
export const lineEvents = fc
  .array(
    fc.record(
      {
        type: fc.constantFrom('message', 'follow', 'unfollow', 'postback', 'join', 'x'),
        webhookEventId: spoilt(fc.uuid(), KEYS),
        timestamp: epoch,
        source: fc.record({ type: fc.constantFrom('user', 'group'), userId }),
        replyToken: fc.string(),
        // Possible future fields of LINE, and impossible ones.
        deliveryContext: fc.dictionary(spoilt(fc.constant('isRedelivery'), KEYS), fc.boolean()),
        message: fc.record({ type: fc.constantFrom('text', 'image'), id: fc.string(), text: hostileText }),
        postback: fc.record({ data: fc.constantFrom('action=level', 'action=__proto__', 'x') }),
      },
      { requiredKeys: ['type', 'webhookEventId', 'timestamp'] },
    ),
    { maxLength: 3 },
  )
  .map((events) => ({ destination: 'U0', events }))

/** Valid pushes. Random values of the schema would almost always violate the rules between fields. */
export const push = fc.record(
  {
    audience: fc.constantFrom('all', 'participants', 'volunteers', 'completed'),
    text: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }),
    image_url: url,
    dry_run: fc.boolean(),
  },
  { requiredKeys: ['audience', 'image_url'] },
)
