/** A Postgres server without free connections. */
import postgres from 'postgres'

/**
 * Settings of a server that fills quickly: each connection is a process, and two hundred take half a minute to start.
 */
export const FEW_CONNECTIONS = ['max_connections=30']

/**
 * Takes every connection of a server, including those of this service.
 * @returns a function that releases them
 */
export async function occupyPostgres(url: string): Promise<() => Promise<void>> {
  const open = () => postgres(url, { max: 1, onnotice: () => undefined })
  const others = [open()]
  await others[0]!`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'event'`
  for (;;) {
    const next = open()
    try {
      await next`SELECT 1`
      others.push(next)
    } catch (error) {
      await next.end()
      if ((error as { code?: string }).code !== '53300') throw error
      return async () => void (await Promise.all(others.map((other) => other.end())))
    }
  }
}
