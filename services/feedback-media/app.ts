/** The feedback-media service: feedback, screenshots, share cards, and links that pilgrims pass on. */
import { openRenderer } from '#shared/runtime/picture-renderer/renderer.ts'
import type { Service, ServiceContext } from '#shared/service/context.ts'
import { runService } from '#shared/service/service.ts'
import { cardEndpoint, drawCardEndpoint } from '#shared/contracts/cards.ts'
import {
  feedbackStatusEndpoint,
  listFeedbackEndpoint,
  screenshotEndpoint,
  submitFeedbackEndpoint,
  updateFeedbackEndpoint,
  uploadScreenshotEndpoint,
} from '#shared/contracts/feedback.ts'
import {
  changeShareEndpoint,
  createShareEndpoint,
  listSharesEndpoint,
  revokeShareEndpoint,
  sharePageEndpoint,
  viewShareEndpoint,
} from '#shared/contracts/shares.ts'
import { createRouter, type Router, serve } from '#shared/service/http/router.ts'
import { createViewCounter, type ViewCounter } from './shares/count-views.ts'
import { changeShare, createShare, listShares, revokeShare } from './shares/manage-shares.ts'
import { createShowShare } from './shares/show-share.ts'
import { type Cards, createCards } from './cards/draw-card.ts'
import { openDecoder } from './feedback/decode-picture.ts'
import { createCardDrawing } from './cards/draw-cards-at-end.ts'
import { listFeedback, readBoard } from './feedback/list-feedback.ts'
import { answerPng } from './png-answer.ts'
import { drawCard, findCard } from './cards/serve-card.ts'
import { submitFeedback } from './feedback/submit-feedback.ts'
import { updateFeedback } from './feedback/update-feedback.ts'
import { createStoredLimit, serveScreenshot, uploadScreenshot } from './feedback/screenshots.ts'

/** A card may change with the next check-in. */
const A_MINUTE = 'public, max-age=60'
/** An outdated card: the new one is being drawn. */
const A_MOMENT = 'public, max-age=5'

export function createFeedbackMedia(context: ServiceContext): Service {
  const renderer = openRenderer()
  const cards = createCards(context, renderer)
  const drawing = createCardDrawing(context, cards)
  const decoder = openDecoder(context.addresses)
  const router = createRouter(context)
  serve(router, context, submitFeedbackEndpoint, ({ body }) => submitFeedback(context, body))
  serve(router, context, listFeedbackEndpoint, ({ query, operator }) =>
    listFeedback(context, query, operator),
  )
  serve(router, context, feedbackStatusEndpoint, ({ query }) => readBoard(context, query))
  serve(router, context, updateFeedbackEndpoint, ({ operator, params, body }) =>
    updateFeedback(context, operator, params.id, body),
  )
  const stored = createStoredLimit()
  serve(router, context, uploadScreenshotEndpoint, ({ bytes, request }) =>
    uploadScreenshot(context, decoder, stored, bytes, request),
  )
  serve(router, context, screenshotEndpoint, ({ request, params }) =>
    serveScreenshot(context, request, params.file),
  )
  serve(router, context, drawCardEndpoint, ({ body, operator, request }) =>
    drawCard(context, cards, body.user_id, operator === null ? context.addressOf(request) : null),
  )
  serve(router, context, cardEndpoint, async ({ request, params }) => {
    const card = await findCard(context, cards, params.file, context.addressOf(request))
    return answerPng(request, card, card.isCurrent ? A_MINUTE : A_MOMENT)
  })
  const views = createViewCounter(context)
  serveShares(router, context, cards, views)
  return {
    name: 'feedback-media',
    fetch: router.fetch,
    async start() {
      drawing.start()
      views.start()
      await context.outbox.on('feedback-media.draw-cards', () => drawing.drawAll())
    },
    async stop() {
      await Promise.all([drawing.stop(), views.stop()])
      await Promise.all([renderer.close(), decoder.close()])
    },
  }
}

/** Links that pilgrims pass on. */
function serveShares(router: Router, context: ServiceContext, cards: Cards, views: ViewCounter): void {
  serve(router, context, createShareEndpoint, ({ body }) => createShare(context, body))
  serve(router, context, listSharesEndpoint, ({ query }) => listShares(context, query.user_id))
  serve(router, context, changeShareEndpoint, ({ params, body }) => changeShare(context, params.id, body))
  serve(router, context, revokeShareEndpoint, ({ params, query }) =>
    revokeShare(context, params.id, query.user_id),
  )
  serve(router, context, viewShareEndpoint, ({ request, params }) => {
    context.addresses.charge(context.addressOf(request))
    return { counted: views.count(params.id) }
  })
  const showShare = createShowShare(context, cards)
  serve(router, context, sharePageEndpoint, ({ request, params, query }) =>
    showShare({ request, file: params.file, lang: query.lang }),
  )
}

if (import.meta.main) await runService(createFeedbackMedia)
