/** How long each view of the console takes to its first data, and what it asks the service for. */
import type { Page } from 'playwright-core'

/** What is done to open a view, and what shows that its data is there. */
const STEPS: readonly { readonly name: string; readonly click: string; readonly shows: string }[] = [
  { name: 'People', click: '.navigation a[href="#/people"]', shows: '.people-list tbody tr' },
  { name: 'one pilgrim', click: '.people-list .name-button', shows: '.person .level-line' },
  { name: 'Reports', click: '.navigation a[href="#/reports"]', shows: '.questions section' },
  { name: 'Feedback', click: '.navigation a[href="#/feedback"]', shows: '.feedback-card' },
  { name: 'Messages', click: '.navigation a[href="#/messages"]', shows: '.compose' },
  { name: 'Lifecycle', click: '.navigation a[href="#/lifecycle"]', shows: '.end-event' },
  { name: 'System', click: '.navigation a[href="#/system"]', shows: '.audit tbody tr' },
  { name: 'Now', click: '.navigation a[href="#/now"]', shows: '.tile .figure' },
]

interface Answer {
  readonly path: string
  readonly ms: number
  /** Of the body, as it went over the network. */
  readonly bytes: number
}

export interface ViewCost {
  readonly name: string
  readonly firstDataMs: number
  readonly answers: number
  readonly slowest: Answer
  readonly largest: Answer
}

const SETTLE_MS = 1_500

/** Opens each view in turn. */
export async function measureViews(page: Page): Promise<ViewCost[]> {
  const pending: Promise<Answer>[] = []
  page.on('requestfinished', (request) => {
    const { pathname } = new URL(request.url())
    if (!pathname.startsWith('/api/') || pathname.endsWith('/stream')) return
    pending.push(
      request.sizes().then(({ responseBodySize: bytes }) => {
        const { requestStart, responseEnd } = request.timing()
        return { path: pathname.replace('/api/event/', ''), ms: responseEnd - requestStart, bytes }
      }),
    )
  })
  const costs: ViewCost[] = []
  for (const { name, click, shows } of STEPS) {
    pending.length = 0
    const startedMs = performance.now()
    await page.locator(click).first().click()
    await page.locator(shows).first().waitFor()
    const firstDataMs = performance.now() - startedMs
    await page.waitForTimeout(SETTLE_MS)
    const answers = await Promise.all(pending)
    const most = (by: 'ms' | 'bytes'): Answer =>
      answers.toSorted((a, b) => b[by] - a[by])[0] ?? { path: '–', ms: 0, bytes: 0 }
    costs.push({ name, firstDataMs, answers: answers.length, slowest: most('ms'), largest: most('bytes') })
  }
  return costs
}
