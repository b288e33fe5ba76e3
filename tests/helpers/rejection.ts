/**
 * The rejection of a call.
 * @throws Error when it resolves
 */
export async function rejection(call: Promise<unknown>): Promise<unknown> {
  let answer: unknown
  try {
    answer = await call
  } catch (error) {
    return error
  }
  throw new Error(`expected a rejection, but it resolved to ${Bun.inspect(answer)}`)
}
