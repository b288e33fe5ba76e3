/** The stand-in's rich menus: create, upload an image, link, delete, as in LINE's API. */

export interface Menu {
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
export async function answerMenus(request: Request, path: string, memory: Memory): Promise<Response | null> {
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
