/** Sets up the event of a test stack, as an owner does in the console. */
import { type EventPart, eventSettingsEndpoint } from '#shared/contracts/event-settings.ts'
import { dataOf } from './answers.ts'
import { callAs, readAs, type TestStack } from './test-stack.ts'

/** Changes fields of a part; the others stay. */
export async function setEvent(
  stack: Pick<TestStack, 'fetch'>,
  part: EventPart,
  change: object,
): Promise<void> {
  const settings = await dataOf(await readAs(stack, 'owner', 'admin/settings'), eventSettingsEndpoint)
  const body = { ...settings[part].value, ...change, version: settings.version }
  const answer = await callAs(stack, 'owner', 'PUT', `admin/settings/${part}`, body)
  if (!answer.ok) throw new Error(await answer.text())
}
