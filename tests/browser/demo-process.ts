/** `bun run demo --url` as a process, against a test stack. */
import { join } from 'node:path'
import { cleanEnvironment } from '#tests/helpers/clean-environment.ts'
import { newDirectory } from '#tests/helpers/process.ts'
import type { TestStack } from '#tests/helpers/test-stack.ts'

const DEMO = join(import.meta.dir, '../crowd/demo.ts')

/** What the demo says at its end. */
export interface DemoSummary {
  readonly code: number
  readonly points: number
  readonly checkIns: number
  /** The failures that were followed by another attempt, by code. */
  readonly sentAgain: Readonly<Record<string, number>>
  readonly text: string
}

const numberIn = (text: string, pattern: RegExp): number =>
  Number(pattern.exec(text)?.[1]?.replaceAll(',', ''))

/** Lets an invented crowd walk. Disposing ends it. */
export async function startDemo(stack: TestStack, options: string) {
  const dir = await newDirectory('demo')
  await Bun.write(join(dir, 'ca.pem'), stack.ca)
  const child = Bun.spawn(
    [process.execPath, '--no-env-file', DEMO, '--url', `https://localhost:${stack.port}`].concat(
      ['--ca', join(dir, 'ca.pem')],
      options.split(' '),
    ),
    { cwd: dir, env: { ...cleanEnvironment(), TMPDIR: dir }, stdio: ['ignore', 'pipe', 'pipe'] },
  )
  const read = Promise.all([
    child.exited,
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  return {
    async summary(): Promise<DemoSummary> {
      const [code, out, errors] = await read
      const again = /^sent again +(.*)$/m.exec(out)?.[1] ?? ''
      const counts = again.matchAll(/([a-z-]+) ([\d,]+)/g)
      return {
        code,
        points: numberIn(out, /measured, ([\d,]+) stored/),
        checkIns: numberIn(out, /\(([\d,]+) check-ins\)/),
        sentAgain: Object.fromEntries(
          [...counts].map(([, name, n]) => [name, Number(n!.replaceAll(',', ''))]),
        ),
        text: `${out}\n${errors}`,
      }
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await child.exited
    },
  }
}
