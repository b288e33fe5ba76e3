/** Parses the command line of a script, with `--help` and error messages for wrong arguments. */
import { parseArgs, type ParseArgsOptionsConfig } from 'node:util'

/**
 * Parses a script's arguments. For `--help`, prints `usage` and exits with 0. For unknown arguments, prints the error
 * and `usage`, and exits with 2.
 * @param usage the whole help text
 * @param options options for `parseArgs` of node:util, without `help`
 * @param positionals maximum number of positional arguments
 */
export function readCommandLine<const Options extends ParseArgsOptionsConfig>(
  usage: string,
  options: Options,
  positionals = 0,
) {
  if (process.argv.slice(2).includes('--help')) {
    process.stdout.write(`${usage}\n`)
    process.exit(0)
  }
  try {
    const read = parseArgs({ options, allowPositionals: positionals > 0 })
    const extra = read.positionals[positionals]
    if (extra !== undefined) throw new TypeError(`Unexpected argument '${extra}'`)
    return read
  } catch (error) {
    return refuseCommandLine(usage, (error as Error).message)
  }
}

/** Prints what is wrong with the arguments, and the usage. Exits with 2. */
export function refuseCommandLine(usage: string, wrong: string): never {
  process.stderr.write(`${wrong}\n\n${usage}\n`)
  process.exit(2)
}
