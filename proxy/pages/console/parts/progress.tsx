export interface ProgressProps {
  readonly label: string
  /** 0 to 1; null: under way, and not known how far. */
  readonly done: number | null
  readonly text: string
}

/** A named bar. Its text says the same in words. */
export const Progress = ({ label, done, text }: ProgressProps) => (
  <div class={done === 1 ? 'progress complete' : 'progress'}>
    <span>{label}</span>
    <progress max={1} {...(done === null ? {} : { value: done })} aria-label={label} />
    <span class="small">{text}</span>
  </div>
)
