/** Checks the values of command-line options. */
import { refuseCommandLine } from '#shared/runtime/command-line.ts'

/** @param usage the help text, printed with each error before the process exits with 2 */
export function createOptionChecks(usage: string) {
  const refuse = (wrong: string): never => refuseCommandLine(usage, wrong)
  const number = (name: string, given: string, least: number, most: number): number => {
    const value = Number(given.trim() || NaN)
    return value >= least && value <= most
      ? value
      : refuse(`${name} must be a number from ${least} to ${most}, not ${given}`)
  }
  return {
    refuse,
    number,
    whole(name: string, given: string, least: number, most: number): number {
      const value = number(name, given, least, most)
      return Number.isInteger(value) ? value : refuse(`${name} must be a whole number, not ${given}`)
    },
    /** Origin and base path of a service, without a trailing slash. */
    url(name: string, given: string): string {
      const url = URL.parse(given)
      return url === null || url.protocol !== 'https:' || url.search !== '' || url.hash !== ''
        ? refuse(
            `${name} must look like https://localhost:8443 (the service speaks HTTPS only), not ${given}`,
          )
        : url.href.replace(/\/+$/, '')
    },
    exclude(one: boolean, other: boolean, names: string): void {
      if (one && other) refuse(`${names} exclude each other.`)
    },
  }
}
