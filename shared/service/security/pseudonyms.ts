/**
 * Pseudonyms: operators below owner see them in place of ids that an app made. While identity is open such an id is the
 * key to its pilgrim's own data, so other operators must not learn it. Nothing is stored: a pseudonym is the id's 128
 * bits, encrypted with a key that all replicas derive from the owners' tokens. When these change, so do the pseudonyms.
 */
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  hkdfSync,
  timingSafeEqual,
} from 'node:crypto'
import { appIdOf, bytesOfAppId } from '#shared/core/rules/app-id.ts'
import type { Config } from '#shared/runtime/config/config.ts'
import { ROLE_LEVEL, type Operator } from './admin-auth.ts'

const APP_IDS = /w-[0-7][0-9a-hjkmnp-tv-z]{25}/g
/**
 * `p-`, the encrypted 16 bytes of the id, and a 5-byte tag, so that no pilgrim's id can be mistaken for a pseudonym.
 */
const PSEUDONYMS = /p-([0-9a-f]{32})([0-9a-f]{10})/g
const TAG_DIGITS = 10
/** Fields in which operators name pilgrims. Other text, such as a message, may be public: pseudonyms in it stay. */
const NAMES = new Set(['user_id', 'userId', 'line_user_id', 'user_ids', 'search', 'cursor'])
const SEAL_DIGITS = 32

export interface Pseudonyms {
  /** Replaces every id in a text that would give the operator access to a pilgrim's own data. */
  hide(text: string, operator: Pick<Operator, 'level'> | null): string
  /** Replaces pseudonyms by their ids where a request names pilgrims. Foreign pseudonyms stay. */
  reveal<T>(value: T): T
  /** Whether this operator sees pseudonyms. */
  hidesFrom(operator: Pick<Operator, 'level'> | null): boolean
  /** The order of ids in the lists of this operator. */
  orderFor(operator: Pick<Operator, 'level'> | null): IdOrder
  /** Signs a cursor: a list that starts at a forged cursor would reveal the order of its ids. */
  seal(cursor: string): string
  /** The signed cursor; null if the signature is wrong. */
  open(sealed: string): string | null
}

/**
 * The order of ids. Operators who see pseudonyms get the order of a keyed hash: the order of the ids themselves would
 * reveal an id to an operator who invents pilgrims around it.
 */
export interface IdOrder {
  /** What an id is sorted by. */
  of(id: string): string
  /** SQL: the same of a column. */
  sql(column: string): string
}

const PLAIN: IdOrder = { of: (id) => id, sql: (column) => column }

function hashedOrder(key: string): IdOrder {
  return {
    of: (id) => createHash('sha256').update(`${key}${id}`).digest('hex'),
    sql: (column) => `encode(sha256(convert_to('${key}' || ${column}, 'UTF8')), 'hex')`,
  }
}

/** Clients send a cursor as it was answered, or percent-decoded. */
function decoded(cursor: string): string {
  try {
    return decodeURIComponent(cursor)
  } catch {
    return cursor
  }
}

export function createPseudonyms({ identity, tokens }: Pick<Config, 'identity' | 'tokens'>): Pseudonyms {
  const owners = tokens.filter(({ role }) => role === 'owner')
  const secret = JSON.stringify((owners.length > 0 ? owners : tokens).map(({ value }) => value).toSorted())
  const keyOf = (use: string) => new Uint8Array(hkdfSync('sha256', secret, '', `pseudonyms: ${use}`, 16))
  const [key, tagKey, sealKey] = [keyOf('cipher'), keyOf('tag'), keyOf('seal')]
  const hashed = hashedOrder(Buffer.from(keyOf('order')).toString('hex'))
  const tagOf = (id: string) => createHmac('sha256', tagKey).update(id).digest('hex').slice(0, TAG_DIGITS)

  const pseudonymOf = (id: string): string => {
    // A single block under a dedicated key, so ECB reveals no more than any other mode.
    const cipher = createCipheriv('aes-128-ecb', key, null).setAutoPadding(false)
    return `p-${cipher.update(bytesOfAppId(id)!).toString('hex')}${tagOf(id)}`
  }
  const idOf = (pseudonym: string, encrypted: string, tag: string): string => {
    const decipher = createDecipheriv('aes-128-ecb', key, null).setAutoPadding(false)
    const id = appIdOf(decipher.update(Buffer.from(encrypted, 'hex')))
    return tagOf(id) === tag ? id : pseudonym
  }
  const reveal = (value: unknown, name = ''): unknown => {
    if (typeof value === 'string') return NAMES.has(name) ? value.replaceAll(PSEUDONYMS, idOf) : value
    if (typeof value !== 'object' || value === null) return value
    if (Array.isArray(value)) return value.map((part) => reveal(part, name))
    return Object.fromEntries(Object.entries(value).map(([inner, part]) => [inner, reveal(part, inner)]))
  }
  const hidesFrom: Pseudonyms['hidesFrom'] = (operator) =>
    identity === 'open' && operator !== null && operator.level < ROLE_LEVEL.owner
  const seal = (cursor: string): string =>
    createHmac('sha256', sealKey).update(decoded(cursor)).digest('hex').slice(0, SEAL_DIGITS) + cursor
  return {
    hide: (text, operator) => (hidesFrom(operator) ? text.replaceAll(APP_IDS, pseudonymOf) : text),
    reveal: <T>(value: T): T => reveal(value) as T,
    hidesFrom,
    orderFor: (operator) => (hidesFrom(operator) ? hashed : PLAIN),
    seal,
    open(sealed) {
      const cursor = sealed.slice(SEAL_DIGITS)
      const [given, right] = [sealed, seal(cursor)].map((text) => Buffer.from(text))
      return given!.length === right!.length && timingSafeEqual(given!, right!) ? cursor : null
    },
  }
}
