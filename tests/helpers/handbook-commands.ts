/** Commands that the operators' handbook prints. */
import { join } from 'node:path'
import { ROOT } from '#tests/helpers/process.ts'

/** The blocks of commands in a section of the handbook. */
export async function commandsOf(section: string): Promise<string[]> {
  const text = await Bun.file(join(ROOT, 'services/README.md')).text()
  const from = text.indexOf(`\n## ${section}\n`)
  return [...text.slice(from, text.indexOf('\n## ', from + 1)).matchAll(/^```sh\n(.*?)^```$/gms)].map(
    ([, block]) => block!,
  )
}
