/** A stand-in for LINE whose errors quote the request; no log may repeat them. */

/** Starts a LINE that refuses every request and quotes it. `alerts` are the requests to the owner. */
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
