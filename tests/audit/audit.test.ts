/** `bun run audit` against a stand-in of the registry. */
import { expect, test } from 'bun:test'
import { join } from 'node:path'

const FAULT = {
  id: 1,
  url: 'https://example.org/1',
  title: 'A fault',
  severity: 'high',
  vulnerable_versions: '>=0.0.1',
}

test.each([
  { what: 'a high fault', answer: () => Response.json({ zod: [FAULT] }), code: 1, said: 'A fault' },
  {
    what: 'a low one',
    answer: () => Response.json({ zod: [{ ...FAULT, severity: 'low' }] }),
    code: 0,
    said: '',
  },
  { what: 'no fault', answer: () => Response.json({}), code: 0, said: 'No known fault' },
  { what: 'a refusal', answer: () => new Response(null, { status: 405 }), code: 0, said: 'Not checked' },
])('a registry that answers with $what', async ({ answer, code, said }) => {
  const registry = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: answer })
  const child = Bun.spawn([process.execPath, join(import.meta.dir, 'audit.ts')], {
    env: { ...process.env, NPM_CONFIG_REGISTRY: registry.url.href, BUN_CONFIG_REGISTRY: registry.url.href },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const text = await new Response(child.stdout).text()
  expect({ code: await child.exited, text }).toEqual({ code, text: expect.stringContaining(said) })
  await registry.stop(true)
})
