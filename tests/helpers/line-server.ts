/**
 * A stand-in for LINE's API. It rejects what LINE rejects, and can fail like LINE or a network. Accepted messages
 * survive its restarts.
 */
import { type Fault, messageFaults } from './line-rules.ts'

/** The stand-in's rich menus: create, upload an image, link, delete, as in LINE's API. */
interface Menu {
  readonly richMenuId: string
  readonly name: string
  readonly size: { readonly width: number; readonly height: number }
  readonly chatBarText: string
  readonly areas: readonly { readonly bounds: Record<'x' | 'y' | 'width' | 'height', number> }[]
  image?: { readonly width: number; readonly height: number; readonly bytes: number }
}

interface Memory {
  readonly menus: Map<string, Menu>
  readonly linked: Map<string, string>
}

const MAX_IMAGE_BYTES = 1_048_576
const MAX_AREAS = 20
const MAX_USERS = 500

const refuse = (message: string, status = 400) => Response.json({ message }, { status })
const ok = () => Response.json({})

/** Answers a call about rich menus; null for other calls. */
async function answerMenus(request: Request, path: string, memory: Memory): Promise<Response | null> {
  const { method } = request
  if (path === '/v2/bot/richmenu' && method === 'POST') return create((await request.json()) as Menu, memory)
  if (path === '/v2/bot/richmenu/list') return Response.json({ richmenus: [...memory.menus.values()] })
  if (path === '/v2/bot/richmenu/bulk/link') {
    const { richMenuId, userIds } = (await request.json()) as { richMenuId: string; userIds: string[] }
    if (userIds.length === 0 || userIds.length > MAX_USERS) return refuse('invalid number of userIds')
    return link(memory, richMenuId, userIds)
  }
  const [, menuId, content] = /^\/v2\/bot\/richmenu\/([^/]+)(\/content)?$/.exec(path) ?? []
  if (menuId !== undefined && content !== undefined && method === 'POST')
    return upload(memory.menus.get(menuId), request)
  if (menuId !== undefined && method === 'DELETE') return remove(memory, menuId)
  const [, user, linkedId] = /^\/v2\/bot\/user\/([^/]+)\/richmenu(?:\/([^/]+))?$/.exec(path) ?? []
  if (user !== undefined && linkedId !== undefined && method === 'POST')
    return link(memory, linkedId, [user === 'all' ? '' : user])
  return null
}

function create(menu: Menu, memory: Memory): Response {
  const { width, height } = menu.size
  if (width < 800 || width > 2_500 || height < 250 || width / height < 1.45) return refuse('invalid size')
  if (!menu.chatBarText || menu.chatBarText.length > 14) return refuse('invalid chatBarText')
  if (!menu.name || menu.name.length > 300) return refuse('invalid name')
  const outside = ({ bounds }: Menu['areas'][number]) =>
    bounds.x < 0 || bounds.y < 0 || bounds.x + bounds.width > width || bounds.y + bounds.height > height
  if (menu.areas.length === 0 || menu.areas.length > MAX_AREAS || menu.areas.some(outside))
    return refuse('invalid areas')
  const richMenuId = `richmenu-${crypto.randomUUID().replaceAll('-', '')}`
  memory.menus.set(richMenuId, { ...menu, richMenuId })
  return Response.json({ richMenuId })
}

async function upload(menu: Menu | undefined, request: Request): Promise<Response> {
  if (menu === undefined) return refuse('Not found', 404)
  if (menu.image !== undefined) return refuse('An image has already been uploaded to the richmenu')
  const bytes = await request.bytes()
  if (bytes.length > MAX_IMAGE_BYTES) return refuse('image too large', 413)
  const { width, height, format } = await new Bun.Image(bytes).metadata()
  if (request.headers.get('content-type') !== `image/${format}`) return refuse('invalid content type', 415)
  if (width !== menu.size.width || height !== menu.size.height)
    return refuse('image size differs from the menu')
  menu.image = { width, height, bytes: bytes.length }
  return ok()
}

function link(memory: Memory, menuId: string, users: readonly string[]): Response {
  if (memory.menus.get(menuId)?.image === undefined)
    return refuse('must upload richmenu image before applying it')
  for (const user of users) memory.linked.set(user, menuId)
  return ok()
}

function remove(memory: Memory, menuId: string): Response {
  if (!memory.menus.delete(menuId)) return refuse('Not found', 404)
  for (const [user, linked] of memory.linked) if (linked === menuId) memory.linked.delete(user)
  return ok()
}

export const LINE_SECRET = 'channel-secret'
export const LINE_TOKEN = 'channel-access-token'

const MULTICAST = 500
const USER_ID = /^U[0-9a-f]{32}$/
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** A LINE user id. @param n any number, the same id for the same number */
export const lineUser = (n: number): string => `U${n.toString(16).padStart(32, '0')}`

export interface Sent {
  readonly kind: 'push' | 'multicast' | 'reply'
  readonly to: readonly string[]
  readonly messages: readonly Record<string, unknown>[]
  readonly retryKey: string | null
}

/** The fault of a call: none, an error before LINE reads it, or an error after LINE accepted it. */
export type Mishap = 'none' | 'before' | 'after' | 'hung' | 'limited'

export interface LineServer {
  readonly url: string
  /** Accepted messages, in order. */
  readonly sent: Sent[]
  /** Number of messages each person got by push or multicast. */
  readonly received: Map<string, number>
  /** Calls of every kind, accepted or not. */
  readonly calls: { readonly method: string; readonly path: string; readonly status: number }[]
  /** People unknown to LINE; a call that names one is rejected as a whole. */
  readonly gone: Set<string>
  readonly profiles: Map<string, Record<string, unknown>>
  readonly menus: Map<string, Menu>
  /** Language menus linked to people, and the default under ''. */
  readonly linked: Map<string, string>
  /** Monthly limit; null: none. */
  quota: number | null
  used: number
  webhook: string
  /** Returns the fault of a call. @param body text of the request */
  mishap: (path: string, body: string) => Mishap
  /** Stops listening and closes all connections. */
  stop(): Promise<void>
  /** Listens again on the same port, with its state. */
  start(): void
}

const fault = (status: number, message: string, details: readonly Fault[] = []): Response =>
  Response.json({ message, ...(details.length > 0 ? { details } : {}) }, { status, headers: requestId() })

const requestId = () => ({ 'X-Line-Request-Id': crypto.randomUUID() })

/** Starts it on a free loopback port; `stop` it at the end. */
export function startLineServer(): LineServer {
  const accepted = new Map<string, string>()
  const usedTokens = new Set<string>()
  let server: ReturnType<typeof Bun.serve> | undefined
  let port = 0

  const send = (kind: 'push' | 'multicast', body: Record<string, unknown>, key: string | null): Response => {
    if (key === null) return fault(400, 'the stand-in insists on X-Line-Retry-Key on the first request')
    if (!UUID.test(key)) return fault(400, 'Invalid retry key')
    const to = (kind === 'push' ? [body.to] : body.to) as string[]
    if (!Array.isArray(to) || to.length === 0 || to.length > MULTICAST)
      return fault(400, "The property, 'to', in the request body is invalid (line: -, column: -)")
    const before = accepted.get(key)
    if (before !== undefined)
      return Response.json(
        { message: 'The retry key is already accepted' },
        { status: 409, headers: { ...requestId(), 'X-Line-Accepted-Request-Id': before } },
      )
    const faults = messageFaults(body.messages)
    if (faults.length > 0) return fault(400, `The request body has ${faults.length} error(s)`, faults)
    if (to.some((id) => !USER_ID.test(id) || state.gone.has(id)) || new Set(to).size < to.length)
      return fault(400, "The property, 'to', in the request body is invalid (line: -, column: -)")
    if (state.quota !== null && state.used + to.length > state.quota)
      return fault(429, 'You have reached your monthly limit.')
    const headers = requestId()
    accepted.set(key, headers['X-Line-Request-Id'])
    state.used += to.length
    for (const id of to) state.received.set(id, (state.received.get(id) ?? 0) + 1)
    state.sent.push({ kind, to, messages: body.messages as Sent['messages'], retryKey: key })
    return Response.json({}, { headers })
  }

  const reply = (body: Record<string, unknown>, key: string | null): Response => {
    if (key !== null) return fault(400, 'X-Line-Retry-Key is not supported here')
    const token = typeof body.replyToken === 'string' ? body.replyToken : ''
    if (token === '' || usedTokens.has(token)) return fault(400, 'Invalid reply token')
    const faults = messageFaults(body.messages)
    if (faults.length > 0) return fault(400, `The request body has ${faults.length} error(s)`, faults)
    usedTokens.add(token)
    state.sent.push({
      kind: 'reply',
      to: [token],
      messages: body.messages as Sent['messages'],
      retryKey: null,
    })
    return Response.json({}, { headers: requestId() })
  }

  const answer = async (request: Request, path: string): Promise<Response> => {
    if (request.headers.get('authorization') !== `Bearer ${LINE_TOKEN}`)
      return fault(401, 'Authentication failed')
    const key = request.headers.get('x-line-retry-key')
    const menus = await answerMenus(request, path, state)
    if (menus !== null) return menus
    const body = request.method === 'POST' ? ((await request.json()) as Record<string, unknown>) : {}
    if (path === '/v2/bot/message/push') return send('push', body, key)
    if (path === '/v2/bot/message/multicast') return send('multicast', body, key)
    if (path === '/v2/bot/message/reply') return reply(body, key)
    if (path === '/v2/bot/message/quota')
      return Response.json(state.quota === null ? { type: 'none' } : { type: 'limited', value: state.quota })
    if (path === '/v2/bot/message/quota/consumption') return Response.json({ totalUsage: state.used })
    if (path === '/v2/bot/channel/webhook/endpoint')
      return Response.json({ endpoint: state.webhook, active: true })
    const userId = /^\/v2\/bot\/profile\/(.+)$/.exec(path)?.[1]
    const profile = userId === undefined ? undefined : state.profiles.get(userId)
    return profile === undefined ? fault(404, 'Not found') : Response.json({ userId, ...profile })
  }

  const serve = async (request: Request): Promise<Response> => {
    const path = new URL(request.url).pathname
    const mishap = state.mishap(path, await request.clone().text())
    if (mishap === 'hung') return new Promise(() => undefined)
    const response =
      mishap === 'before'
        ? fault(500, 'Internal server error')
        : mishap === 'limited'
          ? fault(429, 'The API rate limit has been exceeded. Try again later.')
          : await answer(request, path)
    const given = mishap === 'after' ? fault(500, 'Internal server error') : response
    state.calls.push({ method: request.method, path, status: given.status })
    return given
  }

  const state: LineServer = {
    get url() {
      return `http://127.0.0.1:${port}`
    },
    sent: [],
    received: new Map(),
    calls: [],
    gone: new Set(),
    profiles: new Map(),
    menus: new Map(),
    linked: new Map(),
    quota: null,
    used: 0,
    webhook: 'https://localhost/api/event/webhook',
    mishap: () => 'none',
    async stop() {
      await server?.stop(true)
    },
    start() {
      server = Bun.serve({ hostname: '127.0.0.1', port, idleTimeout: 255, fetch: serve })
      port = server.port!
    },
  }
  state.start()
  return state
}

/** Settings that make a service use the stand-in. */
export const lineSettings = (line: LineServer) => ({
  LINE_CHANNEL_SECRET: LINE_SECRET,
  LINE_CHANNEL_ACCESS_TOKEN: LINE_TOKEN,
  LINE_API_BASE_URL: line.url,
  LINE_DATA_API_BASE_URL: line.url,
})
