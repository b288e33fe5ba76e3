import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const HOOK = join(import.meta.dir, '../../.ci/hooks/commit-msg')

test('a commit whose subject is longer than 72 characters is refused', () => {
  const dir = mkdtempSync(join(tmpdir(), 'event-commit-'))
  try {
    const file = join(dir, 'message')
    for (const [subject, code] of [
      ['x'.repeat(72), 0],
      ['x'.repeat(73), 1],
      ['媽'.repeat(72), 0],
    ] as const) {
      writeFileSync(file, `# a comment\n${subject}\n\n${'The reason. '.repeat(20)}\n`)
      const { exitCode, stderr } = Bun.spawnSync([HOOK, file])
      expect([exitCode, stderr.toString().includes('at most 72')]).toEqual([code, code === 1])
    }
  } finally {
    rmSync(dir, { recursive: true })
  }
})
