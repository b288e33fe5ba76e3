import { figure } from '../units.ts'

/** A number with the form of its noun. */
export const count = (number: number, one: string, many: string): string =>
  `${figure(number)} ${number === 1 ? one : many}`

/** A noun that waits for its number. */
export const counting = (one: string, many: string) => (number: number) => count(number, one, many)
