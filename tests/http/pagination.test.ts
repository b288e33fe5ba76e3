/** An invalid cursor is rejected before any data are read. */
import { expect, test } from 'bun:test'
import { listDeadLetters } from '#services/admin/ledger/manage-dead-letters.ts'
import { listRoles } from '#services/admin/pilgrims/change-pilgrim.ts'
import { listUsers } from '#services/admin/pilgrims/list-users.ts'
import { listAudit } from '#services/admin/reports/list-audit.ts'
import { listSurveys } from '#services/admin/reports/list-surveys.ts'
import { listFeedback, readBoard } from '#services/feedback-media/feedback/reports.ts'
import { listMessages } from '#services/line-bot/sending/read-messages.ts'
import type { UserSort } from '#shared/contracts/reports.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import { createPseudonyms } from '#shared/service/security/pseudonyms.ts'
import { rejection } from '#tests/helpers/rejection.ts'

const page = { limit: 50, cursor: 'forged' }
const usersBy = (sort: UserSort) => (context: ServiceContext) => listUsers(context, { ...page, sort }, null)
const LISTS: Record<string, (context: ServiceContext) => Promise<unknown>> = {
  'dead letters': (context) => listDeadLetters(context, page),
  roles: (context) => listRoles(context, page, null),
  'pilgrims by id': usersBy('userId'),
  'pilgrims by distance': usersBy('km'),
  audit: (context) => listAudit(context, page),
  surveys: (context) => listSurveys(context, page, null),
  feedback: (context) => listFeedback(context, page, { role: 'owner', name: 'owner' } as never),
  board: (context) => readBoard(context, page),
  messages: (context) => listMessages(context, page),
}

test.each(Object.entries(LISTS))('the list of %s asks no store', async (_name, list) => {
  const asked: string[] = []
  const untouched = (store: string) =>
    new Proxy(
      {},
      {
        get(_target, method) {
          asked.push(`${store}.${String(method)}`)
          throw new Error('a store was asked')
        },
      },
    )
  const pseudonyms = createPseudonyms({ identity: 'open', tokens: [] })
  const context = { db: untouched('db'), kv: untouched('kv'), config: {}, now: Date.now, pseudonyms }
  const refusal = await rejection((async () => list(context as never))())
  expect(refusal).toMatchObject({ httpStatus: 400 })
  expect(asked).toEqual([])
})
