/**
 * The panels of Reports, in order. The view, the palette and the menu of files are derived from this list. A
 * panel's name is its entry in `reports.panels`; it takes a full row unless the style sheet says otherwise.
 */
import type { ComponentType } from 'preact'
import type { Data } from '#shared/client/index.ts'
import type { Resource } from '../../resource.ts'
import { MANAGER, VOLUNTEER } from '../../session.ts'

/** Data that the view reads once for its panels. */
export interface ReportProps {
  readonly timeline: Resource<Data<'readTimeline'>>
  /** Null for a volunteer. */
  readonly carbon: Resource<Data<'readCarbon'>> | null
}

interface ReportPanel {
  /** The lowest tier that sees it. */
  readonly least: number
  /** Loaded with the view. */
  readonly load: () => Promise<ComponentType<ReportProps>>
}

export const REPORT_PANELS = {
  headline: { least: MANAGER, load: async () => (await import('./carbon.tsx')).Headline },
  timeline: { least: VOLUNTEER, load: async () => (await import('./timeline.tsx')).TimelinePanel },
  'procession-over-time': {
    least: VOLUNTEER,
    load: async () => (await import('./procession-over-time.tsx')).ProcessionOverTime,
  },
  carbon: { least: MANAGER, load: async () => (await import('./carbon.tsx')).Carbon },
  surveys: { least: MANAGER, load: async () => (await import('./surveys.tsx')).Surveys },
} as const satisfies Readonly<Record<string, ReportPanel>>

export type ReportPanelName = keyof typeof REPORT_PANELS
