/** The mutation operators: small changes of the text, like common mistakes. */
import { parseSync } from 'oxc-parser'

/** An ESTree node; positions are UTF-16 units of the text. */
interface Node {
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
function parse(file: string, text: string): Node {
  const { program, errors } = parseSync(file, text)
  if (errors.length > 0) throw new Error(`${file} cannot be parsed: ${errors[0]!.message}`)
  return program as unknown as Node
}

const parses = (file: string, text: string): boolean => parseSync(file, text).errors.length === 0

const childrenOf = (node: Node): Node[] =>
  Object.values(node)
    .flat()
    .filter(isNode)
    .filter((child) => !isType(child))

/** @returns the name of a called function or method, `min` of `Math.min(…)`; empty for anything else */
function calledName({ callee }: Node): string {
  if (!isNode(callee)) return ''
  if (callee.type === 'Identifier') return callee.name as string
  const property = callee.property as Node | undefined
  return property?.type === 'Identifier' ? (property.name as string) : ''
}

/** @returns the receiver of a method call; null for a function */
const calledOn = ({ callee }: Node): Node | null =>
  isNode(callee) && callee.type === 'MemberExpression' ? (callee.object as Node) : null

export interface Mutant {
  readonly file: string
  /** From 1. */
  readonly line: number
  readonly column: number
  /** `start` and `end` of the text that is replaced. */
  readonly start: number
  readonly end: number
  /** The line where it begins. */
  readonly code: string
  readonly original: string
  readonly replacement: string
}

type Change = Pick<Mutant, 'start' | 'end' | 'replacement'>

const OPERATORS: Readonly<Record<string, readonly string[]>> = {
  '<': ['<=', '>='],
  '<=': ['<', '>'],
  '>': ['>=', '<='],
  '>=': ['>', '<'],
  '===': ['!=='],
  '!==': ['==='],
  '+': ['-'],
  '-': ['+'],
  '*': ['/'],
  '/': ['*'],
  '%': ['*'],
  '**': ['*'],
  '<<': ['>>'],
  '>>': ['<<'],
  '>>>': ['<<'],
  '&': ['|'],
  '|': ['&'],
  '&&': ['||'],
  '||': ['&&'],
  '??': ['&&'],
}
const ASSIGNMENTS: Readonly<Record<string, string>> = {
  '+=': '-=',
  '-=': '+=',
  '*=': '/=',
  '/=': '*=',
  '??=': '=',
  '|=': '&=',
}
/** Functions and methods that are exchanged for each other. */
const CALLS: Readonly<Record<string, string>> = Object.fromEntries(
  [
    ['min', 'max'],
    ['floor', 'ceil'],
    ['some', 'every'],
    ['startsWith', 'endsWith'],
    ['toLowerCase', 'toUpperCase'],
    ['gt', 'gte'],
    ['lt', 'lte'],
    ['eq', 'ne'],
    ['asc', 'desc'],
    ['exists', 'notExists'],
  ].flatMap(([one, other]) => [
    [one, other],
    [other, one],
  ]),
)
/** Methods whose call is replaced by its receiver. */
const LEFT_OUT = ['filter', 'slice', 'sort', 'toSorted', 'reverse', 'toReversed', 'trim']
/** Functions that join conditions; each condition may be left out. */
const JOINS = ['and', 'or']
/** Reporting, which is not mutated. */
const REPORTING = ['log', 'metrics', 'console']
const SQL: readonly (readonly [RegExp, string])[] = [
  [/ AND /g, ' OR '],
  [/ OR /g, ' AND '],
  [/ < /g, ' <= '],
  [/ <= /g, ' < '],
  [/ > /g, ' >= '],
  [/ >= /g, ' > '],
  [/ \+ /g, ' - '],
  [/ - /g, ' + '],
  [/\bmin\(/g, 'max('],
  [/\bmax\(/g, 'min('],
  [/\bLEAST\(/g, 'GREATEST('],
  [/\bGREATEST\(/g, 'LEAST('],
  [/ DESC\b/g, ' ASC'],
  [/\bDISTINCT /g, ''],
]

/** Numbers above this are doubled, because adding one is not noticeable. */
const LARGE = 1_000

/** @returns every mutant of a file, in the order of the text */
export function mutantsOf(file: string, text: string): Mutant[] {
  const found: Mutant[] = []
  const visit = (node: Node, parent: Node): void => {
    if (node.type === 'ImportDeclaration' || isReporting(node)) return
    for (const change of changesOf(node, parent, text)) {
      const before = text.slice(0, change.start).split('\n')
      const original = text.slice(change.start, change.end)
      const [line, column] = [before.length, before.at(-1)!.length + 1]
      const code = text.split('\n', line).at(-1)!.trim()
      const mutant = { file, line, column, code, original, ...change }
      if (original !== change.replacement && parses(file, planted(mutant, text))) found.push(mutant)
    }
    for (const child of childrenOf(node)) visit(child, node)
  }
  const program = parse(file, text)
  visit(program, program)
  return found.sort((a, b) => a.start - b.start)
}

/** @returns the text with the fault */
export const planted = ({ start, end, replacement }: Change, text: string): string =>
  text.slice(0, start) + replacement + text.slice(end)

function isReporting(node: Node): boolean {
  if (node.type === 'ExpressionStatement') return isReporting(node.expression as Node)
  if (node.type === 'BlockStatement') return (node.body as Node[]).every(isReporting)
  // Whether it only reports.
  if (node.type === 'IfStatement') return isReporting(node.consequent as Node) && node.alternate === null
  if (node.type !== 'CallExpression') return false
  const object = calledOn(node)
  return object?.type === 'Identifier' && REPORTING.includes(object.name as string)
}

function changesOf(node: Node, parent: Node, text: string): Change[] {
  const { start, end } = node
  const of = (part: unknown): string => text.slice((part as Node).start, (part as Node).end)
  const as = (...replacements: readonly string[]): Change[] =>
    replacements.map((replacement) => ({ start, end, replacement }))
  switch (node.type) {
    case 'BinaryExpression':
    case 'LogicalExpression': {
      const operator = node.operator as string
      if (operator === '+' && [node.left, node.right].some(isText)) return []
      // A line that begins with a parenthesis would continue the previous one.
      const first = parent.type === 'ExpressionStatement' ? ';' : ''
      const others = OPERATORS[operator] ?? []
      return as(...others.map((other) => `${first}((${of(node.left)}) ${other} (${of(node.right)}))`))
    }
    case 'IfStatement':
    case 'ConditionalExpression': {
      const test = node.test as Node
      return ['true', 'false'].map((replacement) => ({ start: test.start, end: test.end, replacement }))
    }
    case 'WhileStatement': {
      const test = node.test as Node
      return [{ start: test.start, end: test.end, replacement: 'false' }]
    }
    case 'UnaryExpression':
      return ['!', '-'].includes(node.operator as string) ? as(of(node.argument)) : []
    case 'UpdateExpression':
      return as(of(node).replace(/\+\+|--/, (operator) => (operator === '++' ? '--' : '++')))
    case 'AssignmentExpression': {
      const other = ASSIGNMENTS[node.operator as string]
      return other === undefined ? [] : as(`${of(node.left)} ${other} ${of(node.right)}`)
    }
    case 'Literal':
      if (typeof node.value === 'boolean') return as(`${!node.value}`)
      return typeof node.value === 'number' && parent.type === 'BinaryExpression'
        ? as(`${node.value > LARGE ? 2 * node.value : node.value + 1}`)
        : []
    case 'ArrayExpression':
      return (node.elements as unknown[]).length > 0 ? as('[]') : []
    case 'ExpressionStatement':
      return acts(node.expression as Node) ? as(';') : []
    case 'CallExpression':
      return changesOfCall(node, text)
    case 'TaggedTemplateExpression':
      return changesOfSql(node.quasi as Node, text)
    default:
      return []
  }
}

const isText = (part: unknown): boolean => {
  const { type, value, left, right } = part as Node
  if (type === 'BinaryExpression') return isText(left) || isText(right)
  return type === 'TemplateLiteral' || typeof value === 'string'
}

/** Whether a statement can be left out and does more than reporting. */
function acts(expression: Node): boolean {
  const inner = expression.type === 'AwaitExpression' ? (expression.argument as Node) : expression
  if (inner.type === 'CallExpression') return !isReporting(inner) && (inner.callee as Node).type !== 'Super'
  return ['AssignmentExpression', 'UpdateExpression', 'TaggedTemplateExpression'].includes(inner.type)
}

function changesOfCall(node: Node, text: string): Change[] {
  const name = calledName(node)
  const { start, end } = node
  const on = calledOn(node)
  const changes: Change[] = []
  const other = CALLS[name]
  // A function can only be exchanged for one that the file imports or declares.
  if (other !== undefined && (on !== null || new RegExp(`\\b${other}\\b`).test(text))) {
    const callee = node.callee as Node
    const at = (on === null ? callee : (callee.property as Node)).start
    changes.push({ start: at, end: at + name.length, replacement: other })
  }
  if (on !== null && LEFT_OUT.includes(name))
    changes.push({ start, end, replacement: text.slice(on.start, on.end) })
  const given = node.arguments as readonly Node[]
  if (on === null && JOINS.includes(name) && given.length > 1)
    for (const missing of given) {
      const rest = given.filter((one) => one !== missing).map((one) => text.slice(one.start, one.end))
      changes.push({ start, end, replacement: `${name}(${rest.join(', ')})` })
    }
  return changes
}

/** Mutates operators in SQL text. */
function changesOfSql(template: Node, text: string): Change[] {
  return (template.quasis as readonly Node[]).flatMap((part) => {
    const raw = text.slice(part.start, part.end)
    return SQL.flatMap(([pattern, replacement]) =>
      [...raw.matchAll(pattern)].map(({ index, 0: match }) => ({
        start: part.start + index,
        end: part.start + index + match.length,
        replacement,
      })),
    )
  })
}
