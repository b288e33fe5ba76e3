/** The positions that the phone gives to the app, and what the app has done with them. */
import type { BrowserContext, Page } from 'playwright-core'
import { MIN_ELAPSED_MS } from '#proxy/pages/walk/recording/position-filter.ts'

export interface Fix {
  readonly t: number
  readonly lat: number
  readonly lng: number
  /** Metres. */
  readonly accuracy: number
}

/** Every position that the browser gave to the app, as it gave it. Each page counts the ones that it still waits for. */
export async function watchFixes(context: BrowserContext): Promise<Fix[]> {
  const fixes: Fix[] = []
  await context.exposeFunction('noteFix', (fix: Fix) => void fixes.push(fix))
  await context.addInitScript(() => {
    const { noteFix } = globalThis as unknown as { noteFix: (fix: Fix) => void }
    const noted =
      (then: PositionCallback): PositionCallback =>
      (position) => {
        const { latitude: lat, longitude: lng, accuracy } = position.coords
        noteFix({ t: Date.now(), lat, lng, accuracy })
        then(position)
      }
    const { geolocation } = navigator
    const watch = geolocation.watchPosition.bind(geolocation)
    const once = geolocation.getCurrentPosition.bind(geolocation)
    const page = Object.assign(globalThis, { asked: 0 })
    const answered =
      <Given>(then: ((given: Given) => void) | null | undefined) =>
      (given: Given): void => {
        page.asked--
        then?.(given)
      }
    geolocation.watchPosition = (then, ...more) => watch(noted(then), ...more)
    geolocation.getCurrentPosition = (then, failed, options) => {
      page.asked++
      once(answered(noted(then)), answered(failed), options)
    }
  })
  return fixes
}

/** What the phone has done with the positions so far. */
export interface Taken {
  /** Time of the last position that it took. */
  readonly lastMs: number
  /** Time of the last position that it kept, and of one that it doubts. */
  readonly keptMs: number
  readonly doubtedMs: number
  /** It asks once in 30 s. */
  readonly rests: boolean
  /** It waits for a position that it has asked for. */
  readonly asks: boolean
}

export const takenOn = (page: Page): Promise<Taken> =>
  page.evaluate(() => {
    const stored = (name: string): unknown => JSON.parse(localStorage.getItem(`event-walk-${name}`) ?? '{}')
    const { lastMs } = stored('pauses') as { lastMs?: number }
    const { last, doubted } = stored('filter') as Record<'last' | 'doubted', { t: number } | null>
    return {
      lastMs: lastMs ?? 0,
      keptMs: last?.t ?? 0,
      doubtedMs: doubted?.t ?? 0,
      rests: document.querySelector('[data-resting=true]') !== null,
      asks: (globalThis as unknown as { asked: number }).asked > 0,
    }
  })

/**
 * The phone is through with a position: it is on the device, or it is one of those that are left out. A page that ends
 * earlier may lose it, and how many it misses at rest would depend on how busy the machine is.
 */
export const isThrough = ({ lastMs, keptMs, doubtedMs, asks }: Taken, { t }: Pick<Fix, 't'>): boolean =>
  !asks && lastMs >= t && (t - keptMs < MIN_ELAPSED_MS || doubtedMs >= t)
