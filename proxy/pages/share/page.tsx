/**
 * The page of a link, whose HTML the service makes (services/feedback-media/shares). It fetches itself again and shows
 * what has changed. When the link has ended it is loaded as a whole, so that its own answer is shown. The address stays
 * the only thing that the script knows.
 */

const EVERY_MS = 30_000
/** Whoever opens the page again after this time has opened it twice. */
const SAME_VIEW_MS = 600_000

const path = location.pathname
/** By a clock that nobody sets. */
let due = performance.now() + EVERY_MS

/** When the page was last looked at; `own` by its own pilgrim, who is not counted. */
let looked: string | null = null
try {
  looked = sessionStorage.getItem(path)
} catch {
  // The browser keeps nothing: this page remembers by itself.
}

function keepLooked(value: string): void {
  looked = value
  try {
    sessionStorage.setItem(path, value)
  } catch {
    // As above.
  }
}

function countView(): void {
  if (document.hidden || looked === 'own') return
  if (Date.now() - Number(looked) > SAME_VIEW_MS)
    fetch(`/api/event/shares${path.slice(2)}/views`, {
      method: 'POST',
      keepalive: true,
      credentials: 'omit',
    }).catch(() => undefined)
  keepLooked(String(Date.now()))
}

const find = (selector: string): HTMLElement | null => document.querySelector<HTMLElement>(selector)

/** Draws the map, where there is one. Its script is loaded for a page with a map alone. */
async function drawMap(): Promise<void> {
  const figure = find('.map')
  if (figure !== null) (await import('./walk-map.ts')).showMap(figure)
}

/** Shows the page as it is now. The card that is shown already stays, and the map, which draws what has changed. */
function show(page: Document): void {
  const [picture, map, focused] = [find('.picture'), find('.map'), document.activeElement]
  find('main')!.replaceWith(page.querySelector('main')!)
  const [newPicture, newMap] = [find('.picture'), find('.map')]
  if (picture !== null && picture.getAttribute('src') === newPicture?.getAttribute('src'))
    newPicture?.replaceWith(picture)
  if (map !== null && newMap !== null) {
    Object.assign(map.dataset, newMap.dataset)
    newMap.replaceWith(map)
    if (map.contains(focused)) (focused as HTMLElement).focus({ preventScroll: true })
  }
  drawMap().catch(() => undefined)
}

async function renew(): Promise<void> {
  if (document.hidden || performance.now() < due) return
  due = performance.now() + EVERY_MS
  countView()
  try {
    const answer = await fetch(location.href, { cache: 'no-store', credentials: 'omit' })
    if (answer.status === 410) return location.reload()
    if (!answer.ok) throw new Error(answer.statusText)
    show(new DOMParser().parseFromString(await answer.text(), 'text/html'))
  } catch {
    // What was "now" is old.
    find('.live .state')?.setAttribute('hidden', '')
    find('[data-offline]')?.removeAttribute('hidden')
  }
}

if (location.hash === '#own') {
  keepLooked('own')
  history.replaceState(null, '', path + location.search)
}
countView()
// Without a network the figures and words are there; the next answer draws the map.
drawMap().catch(() => undefined)
setInterval(() => void renew(), 1_000)
addEventListener('online', () => (due = 0))
document.addEventListener('visibilitychange', () => {
  if (!document.hidden) due = 0
})
