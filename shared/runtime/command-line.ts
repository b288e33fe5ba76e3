/** The command line of a script: every script answers `--help`, and says what is wrong with its arguments. */
import { parseArgs, type ParseArgsOptionsConfig } from 'node:util'

/**
 * Reads a script's arguments. Prints `usage` and ends the process with 0 for `--help`; for arguments that the script
 * does not know, prints what is wrong with the usage and ends it with 2.
 * @param usage the whole help text
 * @param options as `parseArgs` of node:util takes them, without `help`
 * @param positionals how many arguments without a name there may be at most
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
    process.stderr.write(`${(error as Error).message}\n\n${usage}\n`)
    process.exit(2)
  }
}
