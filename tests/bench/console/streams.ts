/** Many clients of the operators' stream, and clients that come and go. */
import type { RealTestStack } from '#tests/helpers/test-stack-real.ts'

interface Client {
  /** Messages until now. */
  messages(): number
  leave(): Promise<void>
}

/** Connects, and resolves with the first bytes. */
export async function connect(stack: RealTestStack, token: string): Promise<Client> {
  const leaving = new AbortController()
  const answer = await fetch(`https://localhost:${stack.port}/api/event/admin/stream?zoom=6`, {
    headers: { 'X-Admin-Token': token },
    tls: { ca: stack.ca },
    signal: leaving.signal,
  })
  if (!answer.ok) throw new Error(`the stream answered ${answer.status}: ${await answer.text()}`)
  const reader = answer.body!.getReader()
  const decoder = new TextDecoder()
  let messages = 0
  const count = (bytes: Uint8Array) => (messages += decoder.decode(bytes).split('\nevent: ').length - 1)
  const first = await reader.read()
  if (first.value !== undefined) count(first.value)
  const reading = (async () => {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      count(value)
    }
  })().catch(() => undefined)
  return {
    messages: () => messages,
    async leave() {
      leaving.abort()
      await reading
    },
  }
}

/** Connects and leaves so many times, a few at a time. */
export async function reconnect(stack: RealTestStack, token: string, times: number): Promise<void> {
  const AT_ONCE = 20
  for (let done = 0; done < times; done += AT_ONCE)
    await Promise.all(
      Array.from({ length: Math.min(AT_ONCE, times - done) }, async () =>
        (await connect(stack, token)).leave(),
      ),
    )
}
