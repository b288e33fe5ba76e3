/** Builds the pages into a folder that Caddy serves. */
import { resolve } from 'node:path'
import { environment, readConfig } from '#shared/runtime/config/config.ts'
import { firstEvent } from '#shared/pilgrims/event-settings.ts'
import { readCommandLine } from '#shared/runtime/command-line.ts'
import { describeError } from '#shared/runtime/log.ts'
import { buildPages } from './build/build-pages.ts'
import { mapTilesOf } from './build/map-tiles.ts'
import { writeSite } from './build/write-site.ts'

const USAGE = `Builds the pages into a folder, hashed and compressed, for Caddy to serve. The event's name comes from EVENT_NAME.

  bun run pages --to <folder> [--help]

The embedded run (bun start) builds them by itself.`

if (import.meta.main) {
  const { values } = readCommandLine(USAGE, { to: { type: 'string', default: './data/pages' } })
  try {
    const config = readConfig(environment())
    const site = await buildPages(config, firstEvent(config))
    writeSite(site, resolve(values.to), await mapTilesOf(config))
    console.log(`${site.size} files are in ${values.to}.`)
  } catch (error) {
    console.error(describeError(error))
    process.exitCode = 1
  }
}
