/** The document passes Redocly's linter with all recommended rules. */
import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openApiDocument } from '#shared/service/openapi/openapi-document.ts'
import { ROOT, runCommand } from '#tests/helpers/process.ts'

/** Disables telemetry and update checks, which would contact other servers. */
const QUIET = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }

test('redocly finds no error and nothing to warn of', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'event-openapi-'))
  try {
    const file = join(directory, 'openapi.json')
    await Bun.write(file, JSON.stringify(openApiDocument('The <Walk>')))
    const cli = join(ROOT, 'node_modules/@redocly/cli/bin/cli.js')
    const options = ['--extends=recommended', '--format=json', '--max-problems=1000']
    const { out: report, err: said } = await runCommand([process.execPath, cli, 'lint', file, ...options], {
      cwd: directory,
      env: { ...process.env, ...QUIET },
    })
    const { totals, problems } = JSON.parse(report.slice(report.indexOf('{'))) as {
      totals: Record<'errors' | 'warnings', number>
      problems: readonly { readonly message: string; readonly ruleId: string }[]
    }
    expect({ said, problems: problems.map(({ ruleId, message }) => `${ruleId}: ${message}`) }).toMatchObject({
      problems: [],
    })
    expect(totals).toMatchObject({ errors: 0, warnings: 0 })
  } finally {
    rmSync(directory, { recursive: true })
  }
})
