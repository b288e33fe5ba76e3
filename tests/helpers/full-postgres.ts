/** A Postgres whose connections others have taken. */
import postgres from 'postgres'

/**
 * Settings of a server that is soon full: each connection is a process, and two hundred take half a minute to start.
 */
export const FEW_CONNECTIONS = ['max_connections=30']

/**
 * Takes every connection of a server, those of this service included.
 * @returns gives them back
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
