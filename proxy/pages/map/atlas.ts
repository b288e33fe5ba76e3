/** Files with coasts, borders and names, as build/data-files.ts writes them. */

/** Flat lists in 1e-4 degrees: longitude and latitude of the first place, then the differences to each next one. */
export type Lines = readonly (readonly number[])[]

export interface Atlas {
  /** Closed rings. */
  readonly land: Lines
  readonly lines: Lines
  /** Name in traditional and simplified Chinese and in English, longitude and latitude in 1e-4 degrees. */
  readonly names: readonly (readonly [zh: string, hans: string, en: string, lng: number, lat: number])[]
}
