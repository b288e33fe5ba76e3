/** The feedback-media service: feedback, screenshots, share cards and share links. */
import { openRenderer } from '#shared/runtime/picture-renderer/renderer.ts'
import type { Service, ServiceContext } from '#shared/service/context.ts'
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
import { createRouter, type Router } from '#shared/service/http/router.ts'
import { createViewCounter, type ViewCounter } from './shares/count-views.ts'
import { changeShare, createShare, listShares, revokeShare } from './shares/manage-shares.ts'
import { createShareRefusal, createShowShare } from './shares/show-share.ts'
import { type Cards, createCards } from './cards/draw-card.ts'
import { openDecoder } from './feedback/decode-picture.ts'
import { createCardDrawing } from './cards/draw-cards-at-end.ts'
import { listFeedback, readBoard, submitFeedback, updateFeedback } from './feedback/reports.ts'
import { answerPng } from './png-answer.ts'
import { drawCard, findCard } from './cards/serve-card.ts'
import { serveScreenshot, uploadScreenshot } from './feedback/screenshots.ts'

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
  const { serve } = router
  serve(submitFeedbackEndpoint, ({ body }) => submitFeedback(context, body))
  serve(listFeedbackEndpoint, ({ query, operator }) => listFeedback(context, query, operator))
  serve(feedbackStatusEndpoint, ({ query }) => readBoard(context, query))
  serve(updateFeedbackEndpoint, ({ operator, params, body }) =>
    updateFeedback(context, operator, params.id, body),
  )
  serve(uploadScreenshotEndpoint, ({ bytes, request }) => uploadScreenshot(context, decoder, bytes, request))
  serve(screenshotEndpoint, ({ request, params }) => serveScreenshot(context, request, params.file))
  serve(drawCardEndpoint, ({ body, operator, request }) =>
    drawCard(context, cards, body.user_id, operator === null ? context.addressOf(request) : null),
  )
  serve(cardEndpoint, async ({ request, params }) => {
    const card = await findCard(context, cards, params.file, context.addressOf(request))
    return answerPng(request, card, card.isCurrent ? A_MINUTE : A_MOMENT)
  })
  const views = createViewCounter(context)
  serveShares(router, context, cards, views)
  return {
    name: 'feedback-media',
    fetch: router.app.fetch,
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

function serveShares({ serve }: Router, context: ServiceContext, cards: Cards, views: ViewCounter): void {
  serve(createShareEndpoint, ({ body }) => createShare(context, body))
  serve(listSharesEndpoint, ({ query }) => listShares(context, query.user_id))
  serve(changeShareEndpoint, ({ params, body }) => changeShare(context, params.id, body))
  serve(revokeShareEndpoint, ({ params, query }) => revokeShare(context, params.id, query.user_id))
  serve(viewShareEndpoint, ({ request, params }) => {
    context.addresses.charge(context.addressOf(request))
    return { counted: views.count(params.id) }
  })
  const showShare = createShowShare(context, cards)
  serve(
    sharePageEndpoint,
    ({ request, params, query }) => showShare({ request, file: params.file, lang: query.lang }),
    createShareRefusal(context),
  )
}

if (import.meta.main) {
  const { runService } = await import('#shared/service/service.ts')
  await runService(createFeedbackMedia)
}
