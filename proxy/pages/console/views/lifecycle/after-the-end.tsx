import { words } from '../../words.ts'

/** What the end leaves possible, for the time before it and after it. */
export const AfterTheEnd = ({ open = false }: { readonly open?: boolean }) => (
  <details open={open}>
    <summary>{words.value.lifecycle.afterTitle}</summary>
    <ul class="after-the-end">
      {words.value.lifecycle.after.map((sentence) => (
        <li key={sentence}>{sentence}</li>
      ))}
    </ul>
  </details>
)
