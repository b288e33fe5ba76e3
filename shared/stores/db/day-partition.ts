/** Day partitions of the table of points. */

const DAY_MS = 86_400_000

/** Returns the name of a day's partition and the statement that creates it. @param day UTC, `2026-04-12` */
export function dayPartition(day: string): { readonly name: string; readonly create: string } {
  const fromMs = Date.parse(`${day}T00:00:00Z`)
  const [from, to] = [fromMs, fromMs + DAY_MS].map((ms) => new Date(ms).toISOString())
  const name = `gps_points_${day.replaceAll('-', '')}`
  return {
    name,
    create: `CREATE TABLE IF NOT EXISTS ${name} PARTITION OF gps_points FOR VALUES FROM ('${from}') TO ('${to}')`,
  }
}

/** Returns the day of a partition; null for any other table name. */
export function dayOfPartition(name: string): string | null {
  const digits = /^gps_points_(\d{4})(\d\d)(\d\d)$/.exec(name)
  return digits === null ? null : digits.slice(1).join('-')
}
