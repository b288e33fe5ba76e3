import { Button } from '../../design/button.tsx'
import { words } from '../words.ts'

interface PagesProps {
  readonly next: string | null
  readonly isFirst: boolean
  readonly onPage: (cursor: string | undefined) => void
}

/** First and next page of a list. */
export const Pages = ({ next, isFirst, onPage }: PagesProps) =>
  isFirst && next === null ? null : (
    <p class="row">
      <Button disabled={isFirst} onClick={() => onPage(undefined)}>
        {words.value.common.first}
      </Button>
      <Button disabled={next === null} onClick={() => onPage(next ?? undefined)}>
        {words.value.common.next}
      </Button>
    </p>
  )
