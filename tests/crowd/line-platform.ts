/**
 * A stand-in for LINE, for the embedded run: it delivers what followers send, signed, and accepts what the bot sends.
 * The service under test is real; LINE itself cannot be on this machine.
 */
import { createHmac, randomUUID } from 'node:crypto'

export interface LinePlatform {
  readonly url: string
  readonly token: string
  readonly secret: string
  /** Messages that the bot has sent. */
  readonly sent: number
  /** Adds a person whose profile the bot may read. */
  know(userId: string, profile: { readonly displayName: string; readonly language: string }): void
  /** Deletes an account: a call that names it is refused as a whole, as LINE does. */
  lose(userId: string): void
  stop(): Promise<void>
}

interface Menu {
  readonly richMenuId: string
}

/**
 * Starts it on a free port of this machine.
 * @param webhook the address that is registered for deliveries
 */
export function startLinePlatform(webhook: string): LinePlatform {
  const profiles = new Map<string, object>()
  const lost = new Set<unknown>()
  const menus = new Map<string, Menu>()
  const token = randomUUID()
  let sent = 0

  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const { pathname } = new URL(request.url)
      if (request.headers.get('authorization') !== `Bearer ${token}`)
        return refuse(401, 'Authentication failed')
      const userId = /^\/v2\/bot\/profile\/(.+)$/.exec(pathname)?.[1]
      if (userId !== undefined) {
        const profile = profiles.get(userId)
        return profile === undefined ? refuse(404, 'Not found') : Response.json({ userId, ...profile })
      }
      const message = /^\/v2\/bot\/message\/(push|multicast|reply)$/.exec(pathname)?.[1]
      if (message !== undefined) {
        const { to, messages } = (await request.json()) as { to?: unknown; messages?: unknown[] }
        if (!Array.isArray(messages) || messages.length === 0 || messages.length > 5)
          return refuse(400, 'messages: Size must be between 1 and 5')
        const recipients: readonly unknown[] = Array.isArray(to) ? to : [to]
        if (recipients.some((id) => lost.has(id)))
          return refuse(400, "The property, 'to', in the request body is invalid (line: -, column: -)")
        sent += recipients.length
        return Response.json({}, { headers: { 'X-Line-Request-Id': randomUUID() } })
      }
      return answerSettings(request, pathname, { menus, sent, webhook })
    },
  })

  return {
    url: `http://127.0.0.1:${server.port}`,
    token,
    secret: randomUUID(),
    get sent() {
      return sent
    },
    know: (userId, profile) => void profiles.set(userId, profile),
    lose: (userId) => void lost.add(userId),
    stop: () => server.stop(true),
  }
}

const refuse = (status: number, message: string): Response => Response.json({ message }, { status })

/** The quota, the webhook's address, and rich menus. */
async function answerSettings(
  request: Request,
  path: string,
  {
    menus,
    sent,
    webhook,
  }: { readonly menus: Map<string, Menu>; readonly sent: number; readonly webhook: string },
): Promise<Response> {
  if (path === '/v2/bot/message/quota') return Response.json({ type: 'none' })
  if (path === '/v2/bot/message/quota/consumption') return Response.json({ totalUsage: sent })
  if (path === '/v2/bot/channel/webhook/endpoint') return Response.json({ endpoint: webhook, active: true })
  if (path === '/v2/bot/richmenu/list') return Response.json({ richmenus: [...menus.values()] })
  if (path === '/v2/bot/richmenu' && request.method === 'POST') {
    const richMenuId = `richmenu-${randomUUID().replaceAll('-', '')}`
    menus.set(richMenuId, { ...((await request.json()) as object), richMenuId })
    return Response.json({ richMenuId })
  }
  const deleted = /^\/v2\/bot\/richmenu\/([^/]+)$/.exec(path)?.[1]
  if (deleted !== undefined && request.method === 'DELETE') menus.delete(deleted)
  return path.startsWith('/v2/bot/') ? Response.json({}) : refuse(404, 'Not found')
}

/** The signature of a delivery, over its bytes. */
export const signatureOf = (body: string, secret: string): string =>
  createHmac('sha256', secret).update(body).digest('base64')
