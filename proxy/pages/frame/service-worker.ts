/**
 * Caches a page's files, so that it opens without a network. Each page that works offline has a worker in its folder.
 * The build defines the names in capitals.
 */
declare const CACHE: string
declare const FILES: readonly string[]
declare const PAGE: string

interface Extendable extends Event {
  waitUntil(promise: Promise<unknown>): void
}
interface Fetching extends Extendable {
  readonly request: Request
  respondWith(response: Promise<Response>): void
}
interface Pushing extends Extendable {
  readonly data: { json(): { title: string; body: string; tag: string } } | null
}
interface Clicking extends Extendable {
  readonly notification: Notification
}
interface Worker extends EventTarget {
  readonly registration: ServiceWorkerRegistration
  skipWaiting(): Promise<void>
  readonly clients: {
    claim(): Promise<void>
    matchAll(): Promise<readonly { focus(): Promise<unknown> }[]>
    openWindow(url: string): Promise<unknown>
  }
}

const worker = self as unknown as Worker
worker.addEventListener('install', (event) =>
  (event as Extendable).waitUntil(
    caches
      .open(CACHE)
      .then((cache) => cache.addAll(FILES))
      .then(() => worker.skipWaiting()),
  ),
)

worker.addEventListener('activate', (event) =>
  (event as Extendable).waitUntil(
    caches
      .keys()
      .then((names) =>
        Promise.all(
          names
            .filter((name) => name.startsWith(`${PAGE} `) && name !== CACHE)
            .map((name) => caches.delete(name)),
        ),
      )
      .then(() => worker.clients.claim()),
  ),
)

// A page that was loading while the worker started is not controlled by it, and asks to be.
worker.addEventListener('message', () => void worker.clients.claim())

/**
 * The cache comes before the network, even for the page: at the edge of a dead zone a newer page would arrive without
 * its scripts. A new release installs its own worker, and the page then offers to reload.
 */
worker.addEventListener('fetch', (event) => {
  const { request, respondWith } = event as Fetching
  const { origin, pathname } = new URL(request.url)
  if (request.method !== 'GET' || origin !== location.origin || !FILES.includes(pathname)) return
  respondWith.call(
    event,
    caches.match(pathname, { cacheName: CACHE }).then((kept) => kept ?? fetch(request)),
  )
})

/** A message of the organisers. A repeated one has the same tag and replaces the first. */
worker.addEventListener('push', (event) => {
  const { data, waitUntil } = event as Pushing
  const { title, ...shown } = data!.json()
  waitUntil.call(event, worker.registration.showNotification(title, shown))
})

worker.addEventListener('notificationclick', (event) => {
  const { notification, waitUntil } = event as Clicking
  notification.close()
  waitUntil.call(
    event,
    worker.clients.matchAll().then(([page]) => page?.focus() ?? worker.clients.openWindow(PAGE)),
  )
})
