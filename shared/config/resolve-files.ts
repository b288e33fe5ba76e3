/** Settings whose value is in a file. */
import { readFileSync } from 'node:fs'

export type Environment = Record<string, string | undefined>

/** `<NAME>_FILE` is the path of a file with the value; the variable itself has precedence. Blank means unset. */
export function resolveFiles(names: readonly string[], env: Environment, faults: string[]): Environment {
  const resolved: Environment = {}
  for (const name of names) {
    const value = env[name]?.trim()
    const file = env[`${name}_FILE`]?.trim()
    if (value) resolved[name] = value
    else if (file) {
      try {
        resolved[name] = readFileSync(file, 'utf8').trim() || undefined
      } catch (error) {
        faults.push(`${name}_FILE: ${error instanceof Error ? error.message : 'is not readable'}`)
      }
    }
  }
  return resolved
}
