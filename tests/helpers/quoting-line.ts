/** A stand-in for LINE at its most talkative: no log may repeat what it says. */

/** A LINE that refuses everything, and quotes what it was sent. `alerts`: what went to the owner. */
export function startQuotingLine(owner: string) {
  const alerts: string[] = []
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const body = await request.text()
      if (body.includes(owner)) alerts.push(body)
      const message = `The property in the request body is invalid: ${body} of ${request.url}`
      return Response.json({ message, details: [{ message: body, property: body }] }, { status: 400 })
    },
  })
  return { server, alerts, url: `http://127.0.0.1:${server.port}` }
}
