/** The tracker apps: names, shop links, and the recommended one. */
import type { Data } from '#shared/client/index.ts'

export type TrackerApp = keyof Data<'createTracker'>['apps']

/** Kind of device, as far as app shops are concerned. */
type Device = 'iphone' | 'android' | 'other'

interface TrackerShops {
  /** The app's own name, the same in every language. */
  readonly name: string
  readonly iphone?: string
  readonly android?: string
}

export const TRACKER_APPS: Readonly<Record<TrackerApp, TrackerShops>> = {
  traccar: {
    name: 'Traccar Client',
    iphone: 'https://apps.apple.com/app/traccar-client/id843156974',
    android: 'https://play.google.com/store/apps/details?id=org.traccar.client',
  },
  owntracks: {
    name: 'OwnTracks',
    iphone: 'https://apps.apple.com/app/owntracks/id692424691',
    android: 'https://play.google.com/store/apps/details?id=org.owntracks.android',
  },
  overland: {
    name: 'Overland',
    iphone: 'https://apps.apple.com/app/overland-gps-tracker/id1292426766',
  },
  gpslogger: {
    name: 'GPSLogger',
    android: 'https://gpslogger.app/',
  },
  osmand: {
    name: 'OsmAnd',
    iphone: 'https://apps.apple.com/app/osmand-maps-travel-navigate/id934850257',
    android: 'https://play.google.com/store/apps/details?id=net.osmand',
  },
}

/**
 * The same app on both platforms, so that walkers can help each other. It is in both shops, is set up with
 * one tap, and keeps unsent points.
 */
export const RECOMMENDED = 'traccar' satisfies TrackerApp

export function deviceOf({
  userAgent,
  maxTouchPoints,
}: Pick<Navigator, 'userAgent' | 'maxTouchPoints'>): Device {
  if (/Android/.test(userAgent)) return 'android'
  // An iPad identifies as a Mac, but no Mac has a touch screen.
  const isApple = /iPhone|iPad|iPod/.test(userAgent) || (/Macintosh/.test(userAgent) && maxTouchPoints > 1)
  return isApple ? 'iphone' : 'other'
}

const device: Device = deviceOf(navigator)

/** Shops that offer the app for this device; on a computer, for both kinds of phone. */
export const shopsOf = (
  app: TrackerApp,
): { readonly kind: 'iPhone' | 'Android'; readonly address: string }[] => {
  const { iphone, android } = TRACKER_APPS[app]
  return [
    ...(iphone !== undefined && device !== 'android' ? [{ kind: 'iPhone' as const, address: iphone }] : []),
    ...(android !== undefined && device !== 'iphone' ? [{ kind: 'Android' as const, address: android }] : []),
  ]
}
