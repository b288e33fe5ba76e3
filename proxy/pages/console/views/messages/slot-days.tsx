import { Button, Segments } from '../../../design/button.tsx'
import { dayOf, now } from '../../clock.ts'
import { fill, words } from '../../words.ts'

const MOST_DAYS = 366
const DAY_MS = 86_400_000

const tomorrow = (): string => dayOf(now.value + DAY_MS)
/** The day after the latest one of them. */
function following(dates: readonly string[]): string {
  const latest = dates
    .filter((day) => day !== '')
    .toSorted()
    .at(-1)
  if (latest === undefined) return tomorrow()
  return new Date(Date.parse(latest) + DAY_MS).toISOString().slice(0, 10)
}

interface Props {
  /** Null: every day of the event. */
  readonly dates: readonly string[] | null
  readonly onChange: (dates: string[] | null) => void
}

/** The days of a reminder, as the event's calendar has them. */
export function SlotDays({ dates, onChange }: Props) {
  const said = words.value.schedule
  return (
    <div class="wide slot-when">
      <Segments
        label={said.when}
        value={dates === null ? 'every' : 'some'}
        options={[
          { value: 'some', text: said.someDays },
          { value: 'every', text: said.everyDay },
        ]}
        onChoose={(kind) => onChange(kind === 'every' ? null : (dates?.slice() ?? [tomorrow()]))}
      />
      {dates === null ? null : <Days dates={dates} onChange={onChange} />}
    </div>
  )
}

function Days({ dates, onChange }: Props & { readonly dates: readonly string[] }) {
  const said = words.value.schedule
  return (
    <fieldset class="slot-days">
      <legend class="small">{said.days}</legend>
      {dates.map((day, i) => (
        // The place of a day is what it is known by: two may be the same while one is typed.
        <span key={i} class="slot-day">
          <input
            type="date"
            required
            aria-label={fill(said.day, { n: i + 1 })}
            value={day}
            onInput={({ currentTarget }) => onChange(dates.with(i, currentTarget.value))}
          />
          {dates.length === 1 ? null : (
            <Button
              kind="plain"
              icon
              label={fill(said.removeDay, { n: i + 1 })}
              onClick={() => onChange(dates.toSpliced(i, 1))}
            >
              ✕
            </Button>
          )}
        </span>
      ))}
      {dates.length < MOST_DAYS ? (
        <Button kind="plain" onClick={() => onChange([...dates, following(dates)])}>
          {said.addDay}
        </Button>
      ) : null}
    </fieldset>
  )
}
