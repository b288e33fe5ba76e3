/** `bun run client:generate`: writes the client's types and operations. */
import { readCommandLine } from '#shared/runtime/command-line.ts'
import { CLIENT_MODULE, clientModule } from './write-client.ts'

const USAGE = `Writes shared/client/api.ts, the client's types and operations, from the contracts.

  bun run client:generate [--check]

  --check   write nothing; fail when the file differs from the contracts
  --help    print this text`

const { values } = readCommandLine(USAGE, { check: { type: 'boolean', default: false } })
const written = clientModule()
if (!values.check) await Bun.write(CLIENT_MODULE, written)
else if ((await Bun.file(CLIENT_MODULE).text()) !== written) {
  process.stderr.write(
    'shared/client/api.ts differs from the contracts: run "bun run client:generate" and commit it.\n',
  )
  process.exitCode = 1
}
