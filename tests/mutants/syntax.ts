/** Parses a source file and walks its syntax tree, without types. */
import { parseSync } from 'oxc-parser'

/** An ESTree node; positions are UTF-16 units of the text. */
export interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [field: string]: unknown
}

/** TypeScript nodes that contain a value; all others disappear at run time. */
const AROUND_VALUES = ['TSAsExpression', 'TSNonNullExpression', 'TSSatisfiesExpression']

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof (value as Node).type === 'string'

const isType = ({ type }: Node): boolean => type.startsWith('TS') && !AROUND_VALUES.includes(type)

/** @throws Error for invalid TypeScript */
export function parse(file: string, text: string): Node {
  const { program, errors } = parseSync(file, text)
  if (errors.length > 0) throw new Error(`${file} can not be parsed: ${errors[0]!.message}`)
  return program as unknown as Node
}

export const parses = (file: string, text: string): boolean => parseSync(file, text).errors.length === 0

export const childrenOf = (node: Node): Node[] =>
  Object.values(node)
    .flat()
    .filter(isNode)
    .filter((child) => !isType(child))

/** @returns the name of a called function or method, `min` of `Math.min(…)`; empty for anything else */
export function calledName({ callee }: Node): string {
  if (!isNode(callee)) return ''
  if (callee.type === 'Identifier') return callee.name as string
  const property = callee.property as Node | undefined
  return property?.type === 'Identifier' ? (property.name as string) : ''
}

/** @returns the receiver of a method call; null for a function */
export const calledOn = ({ callee }: Node): Node | null =>
  isNode(callee) && callee.type === 'MemberExpression' ? (callee.object as Node) : null
