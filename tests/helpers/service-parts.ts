/** The dependencies of a service, opened in the process of the test and without a server. */
import { rm } from 'node:fs/promises'
import { type Environment, readConfig } from '#shared/runtime/config/config.ts'
import { createLog } from '#shared/runtime/log.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import { contextOf, openPorts, type Ports } from '#shared/service/service.ts'
import { migrateDatabase } from '#shared/stores/db/migrate.ts'
import { copyMigratedDatabase } from './migrated-database.ts'
import { newDirectory } from './process.ts'
import { stopwatchBy } from './stopwatch.ts'

export interface ServiceParts {
  readonly ports: Ports
  /** The context of a service of this name. */
  context(name?: string): ServiceContext
  close(): Promise<void>
}

/** Opens them, with data in a separate directory: embedded stores, or those named by the settings. */
export async function openServiceParts(
  settings: Environment = {},
  { now = Date.now, log = createLog({}, () => undefined) } = {},
): Promise<ServiceParts> {
  const dir = await newDirectory('parts')
  const isEmbedded = settings.DATABASE_URL === undefined
  if (isEmbedded) await copyMigratedDatabase(dir)
  const config = readConfig({ EVENT_DATA_DIR: dir, ...settings })
  const opened = await openPorts(config, log, now, isEmbedded ? migrateDatabase : undefined)
  const ports = now === Date.now ? opened : { ...opened, stopwatch: stopwatchBy(now) }
  return {
    ports,
    context: (name = 'test') => contextOf(ports, name, log, { tls: false, addressOf: () => 'test' }),
    async close() {
      await ports.close()
      await rm(dir, { recursive: true, force: true })
    },
  }
}
