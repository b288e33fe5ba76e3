/** Builds the pages into a folder that Caddy serves. */
import { resolve } from 'node:path'
import { type Config, environment, readConfig } from '#shared/runtime/config/config.ts'
import { type Event, firstEvent, readEvent } from '#shared/pilgrims/event-settings.ts'
import { openDatabase } from '#shared/stores/db/open-database.ts'
import { readCommandLine } from '#shared/runtime/command-line.ts'
import { describeError } from '#shared/runtime/log.ts'
import { buildPages } from './build/build-pages.ts'
import { mapTilesOf } from './build/map-tiles.ts'
import { writeSite } from './build/write-site.ts'

const USAGE = `Builds the pages into a folder, hashed and compressed, for Caddy to serve. The event's name
and languages are those that its owner has set, where DATABASE_URL names a server that answers, or else those of the
environment.

  bun run pages --to <folder> [--help]

The embedded run (bun start) builds them by itself.`

/** Caddy must not wait for a database: then the pages get the name from the service as soon as they are open. */
export async function eventOf(config: Config): Promise<Event> {
  if (config.databaseUrl === '') return firstEvent(config)
  try {
    const db = await openDatabase({ url: config.databaseUrl, dir: config.dataDir })
    try {
      return await readEvent(db, config)
    } finally {
      await db.close()
    }
  } catch (error) {
    console.error(`The owner's settings could not be read: ${describeError(error)}`)
    return firstEvent(config)
  }
}

if (import.meta.main) {
  const { values } = readCommandLine(USAGE, { to: { type: 'string', default: './data/pages' } })
  try {
    const config = readConfig(environment())
    const site = await buildPages(config, await eventOf(config))
    writeSite(site, resolve(values.to), await mapTilesOf(config))
    console.log(`${site.size} files are in ${values.to}.`)
  } catch (error) {
    console.error(describeError(error))
    process.exitCode = 1
  }
}
