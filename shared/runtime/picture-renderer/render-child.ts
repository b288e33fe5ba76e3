/** The renderer's child process. */
import { replyWith } from '#shared/runtime/child-reply.ts'
import type { Element } from './element.ts'
import { render, type Size } from './render.ts'

export interface RenderOrder extends Size {
  readonly element: Element
}

replyWith(({ element, ...size }: RenderOrder) => render(element, size))
