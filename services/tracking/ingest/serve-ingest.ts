/** The routes of tracker apps. */
import {
  gpsloggerEndpoint,
  gpsloggerProfileEndpoint,
  gpsloggerQueryEndpoint,
  osmandEndpoint,
  overlandEndpoint,
  owntracksEndpoint,
  traccarEndpoint,
  traccarQueryEndpoint,
} from '#shared/contracts/ingest.ts'
import { type Router, serve } from '#shared/service/http/router.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import { gpsLoggerProfile, ingestUrl } from '../trackers/set-up-links.ts'
import { expectKey, ingest, type Ingest } from './ingest.ts'
import { readOverland, readOwnTracks, readRequest } from './tracker-formats.ts'

export function serveIngest(router: Router, context: ServiceContext, taking: Ingest): void {
  serve(router, context, owntracksEndpoint, ({ params, bytes }) =>
    ingest(taking, 'owntracks', params.key, () => readOwnTracks(bytes)),
  )
  serve(router, context, overlandEndpoint, ({ params, bytes }) =>
    ingest(taking, 'overland', params.key, () => readOverland(bytes)),
  )
  for (const endpoint of [traccarEndpoint, traccarQueryEndpoint])
    serve(router, context, endpoint, ({ params, query, bytes }) =>
      ingest(taking, 'traccar', params.key, () => readRequest('traccar', 'knots', query, bytes)),
    )
  serve(router, context, osmandEndpoint, ({ params, query, bytes }) =>
    ingest(taking, 'osmand', params.key, () => readRequest('osmand', 'metresASecond', query, bytes)),
  )
  for (const endpoint of [gpsloggerEndpoint, gpsloggerQueryEndpoint])
    serve(router, context, endpoint, ({ params, query, bytes }) =>
      ingest(taking, 'gpslogger', params.key, () => readRequest('gpslogger', 'metresASecond', query, bytes)),
    )
  serve(router, context, gpsloggerProfileEndpoint, async ({ params: { key } }) => {
    await expectKey(taking, key)
    return new Response(gpsLoggerProfile(ingestUrl(context.config.publicUrl, key, 'gpslogger')), {
      headers: { 'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': 'no-store' },
    })
  })
}
