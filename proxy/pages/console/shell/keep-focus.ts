/**
 * Keeps the keyboard's place. When what has the focus goes away or can not be used any more (a row after its removal, a
 * button after it was pressed), the browser gives the focus to the whole page, and the operator would begin at its top.
 * It goes to the next row of the list instead, else to the panel, else to the view.
 */

/** Where the focus was last: the element, and what it stood in, innermost first. */
interface Place {
  readonly element: Element
  readonly around: readonly Around[]
}

interface Around {
  readonly element: Element
  /** Its number among its siblings. */
  readonly index: number
  /** Whether it is a row of a list. What is gone can not tell any more. */
  readonly isRow: boolean
}

const indexOf = (element: Element): number => [...(element.parentElement?.children ?? [])].indexOf(element)

function placeOf(element: Element): Place {
  const around: Around[] = []
  for (let at = element.parentElement; at !== null && at.id !== 'page'; at = at.parentElement)
    around.push({ element: at, index: indexOf(at), isRow: at.matches('.rows > li') })
  return { element, around }
}

const canHaveFocus = (element: Element): boolean => element.isConnected && !element.matches(':disabled')

/** The row that has taken the place of one that is gone. Not its button: a second press would act on it. */
function rowAfter({ around }: Place): Element | null {
  const at = around.findIndex(({ element, isRow }) => isRow && !element.isConnected)
  if (at < 0) return null
  const list = around[at + 1]?.element
  if (list === undefined || !list.isConnected) return null
  return list.children[Math.min(around[at]!.index, list.children.length - 1)] ?? null
}

function heirOf(place: Place): Element | null {
  const panel = place.around.find(({ element }) => element.isConnected && element.matches('.panel'))
  return rowAfter(place) ?? panel?.element ?? document.getElementById('view')
}

function giveFocus(element: Element | null): void {
  if (!(element instanceof HTMLElement)) return
  if (!element.hasAttribute('tabindex')) element.tabIndex = -1
  element.focus()
}

const isNowhere = (): boolean => {
  const { activeElement: active } = document
  return active === null || active === document.body || active.matches(':disabled')
}

/** @returns ends it */
export function keepFocus(): () => void {
  let place: Place | null = null
  const onFocusIn = ({ target }: FocusEvent): void => {
    if (target instanceof Element && target.closest('#view') !== null) place = placeOf(target)
    else place = null
  }
  const look = (): void => {
    if (place === null || !isNowhere()) return
    // The operator has left it: a click beside everything.
    if (canHaveFocus(place.element)) place = null
    else giveFocus(heirOf(place))
  }
  // After the page has drawn a change, and the browser has taken the focus away.
  let isDue = false
  const later = (): void => {
    if (place === null || isDue) return
    isDue = true
    requestAnimationFrame(() =>
      requestAnimationFrame(() => {
        isDue = false
        look()
      }),
    )
  }
  const changes = new MutationObserver(later)
  document.addEventListener('focusin', onFocusIn)
  document.addEventListener('focusout', later)
  const view = document.getElementById('view')!
  changes.observe(view, { childList: true, subtree: true, attributes: true, attributeFilter: ['disabled'] })
  return () => {
    document.removeEventListener('focusin', onFocusIn)
    document.removeEventListener('focusout', later)
    changes.disconnect()
  }
}
