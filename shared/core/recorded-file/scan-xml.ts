/**
 * Scans XML without building a tree. A phone reads recordings of 100,000 points and more: this takes a tenth of the
 * time of a tree builder, holds one element at a time, and adds 1 kB to the page.
 */

/** The text is not well-formed. */
export class XmlFault extends Error {
  /** @param line of the fault, from 1 */
  constructor(
    readonly line: number,
    reason: string,
  ) {
    super(reason)
  }
}

/** Receives elements in the order of the document. Names have no namespace prefix. */
export interface XmlHandler {
  /** @param path names from the root to the new element; valid during the call */
  open(path: readonly string[], attribute: (name: string) => string | undefined): void
  /** @param text the element's own text, without that of its children; entities stay unexpanded */
  close(path: readonly string[], text: string): void
}

const ATTRIBUTE = /\s+([^\s=/>"'<]+)\s*=\s*("[^"<]*"|'[^'<]*')/g
/** Text, then what follows it: a comment, CDATA, an instruction, a DOCTYPE, or a tag. */
const TEXT = /[^<]*/y
const SILENT = /<!--[\s\S]*?-->|<\?[\s\S]*?\?>|<!DOCTYPE[^[>]*(?:\[[^\]]*\]\s*)?>/y
const CDATA = /<!\[CDATA\[([\s\S]*?)\]\]>/y
const END = /<\/([^\s<>/]+)\s*>/y
const START = /<([^\s<>/!?"'=]+)((?:\s+[^\s=/>"'<]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(\/?)>/y

/**
 * Calls the handler for each element.
 * @throws XmlFault if the text is not well-formed: a file that was cut short must not become a shorter walk
 */
export function scanXml(xml: string, handler: XmlHandler): void {
  const path: string[] = []
  /** Open elements: the name as written, with its prefix, and the text so far. */
  const open: { readonly name: string; text: string }[] = []
  let at = 0
  let hasRoot = false
  const fail = (reason: string): never => {
    throw new XmlFault(xml.slice(0, at).split('\n').length, reason)
  }
  const match = (expression: RegExp): RegExpExecArray | null => {
    expression.lastIndex = at
    const found = expression.exec(xml)
    if (found !== null) at += found[0].length
    return found
  }
  const addText = (text: string): void => {
    const element = open.at(-1)
    if (element !== undefined) element.text += text
    else if (text.trim() !== '') fail('text outside of the root element')
  }
  const close = (): void => {
    handler.close(path, open.pop()!.text)
    path.pop()
  }

  while (at < xml.length) {
    addText(match(TEXT)![0])
    if (at === xml.length) break
    if (match(SILENT) !== null) continue
    const data = match(CDATA)
    if (data !== null) {
      addText(data[1]!)
      continue
    }
    const end = match(END)
    if (end !== null) {
      const name = open.at(-1)?.name ?? ''
      if (name !== end[1]) fail(`</${end[1]!}> does not end <${name}>`)
      close()
      continue
    }
    const start = match(START) ?? fail('no tag after <')
    const [, name, attributes, isEmpty] = start as unknown as [string, string, string, string]
    if (open.length === 0 && hasRoot) fail(`<${name}> follows the root element`)
    hasRoot = true
    open.push({ name, text: '' })
    path.push(name.slice(name.indexOf(':') + 1))
    handler.open(path, (wanted) => attributeIn(attributes, wanted))
    if (isEmpty === '/') close()
  }
  if (open.length > 0) fail(`<${open.at(-1)!.name}> does not end`)
  if (!hasRoot) fail('no element')
}

function attributeIn(attributes: string, wanted: string): string | undefined {
  for (const [, name, value] of attributes.matchAll(ATTRIBUTE))
    if (name === wanted) return value!.slice(1, -1)
  return undefined
}
