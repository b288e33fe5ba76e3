/** Words that all pages share, in one language. */
export interface PageWords {
  readonly language: string
  readonly theme: string
  readonly themes: {
    readonly auto: string
    readonly light: string
    readonly dark: string
    readonly sun: string
  }
  readonly close: string
  readonly cancel: string
  readonly more: string
  readonly less: string
  readonly settings: string
  /** Names of the levels, level 1 first. */
  readonly levels: readonly string[]
}
