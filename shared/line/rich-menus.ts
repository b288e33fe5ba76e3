/** LINE's rich menu API. */
import type { messagingApi } from '@line/bot-sdk'
import { withTimeout } from './with-timeout.ts'

/** Maximum number of users per call of "Link rich menu to multiple users". */
const LINK_MAX = 500
const MENU_MS = 20_000

export interface Menus {
  /** Creates a menu with its image; returns its id. */
  create(menu: messagingApi.RichMenuRequest, png: Uint8Array<ArrayBuffer>): Promise<string>
  list(): Promise<readonly messagingApi.RichMenuResponse[]>
  /** Sets the menu of users without their own one. */
  setDefault(menuId: string): Promise<void>
  link(menuId: string, userIds: readonly string[]): Promise<void>
  remove(menuId: string): Promise<void>
}

/** Every method rejects if LINE refuses or does not answer. */
export function createMenus(
  api: messagingApi.MessagingApiClient,
  blobs: messagingApi.MessagingApiBlobClient,
): Menus {
  return {
    async create(menu, png) {
      const { richMenuId } = await withTimeout(api.createRichMenu(menu), MENU_MS)
      await withTimeout(blobs.setRichMenuImage(richMenuId, new Blob([png], { type: 'image/png' })), MENU_MS)
      return richMenuId
    },
    list: async () => (await withTimeout(api.getRichMenuList(), MENU_MS)).richmenus,
    async setDefault(menuId) {
      await withTimeout(api.setDefaultRichMenu(menuId), MENU_MS)
    },
    async link(menuId, userIds) {
      for (let from = 0; from < userIds.length; from += LINK_MAX) {
        const some = userIds.slice(from, from + LINK_MAX)
        await withTimeout(api.linkRichMenuIdToUsers({ richMenuId: menuId, userIds: some }), MENU_MS)
      }
    },
    async remove(menuId) {
      await withTimeout(api.deleteRichMenu(menuId), MENU_MS)
    },
  }
}
