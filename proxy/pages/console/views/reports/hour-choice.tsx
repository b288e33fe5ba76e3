import { dayName, dayOf, minute } from '../../clock.ts'
import { words } from '../../words.ts'

export interface HourChoiceProps {
  readonly hours: readonly string[]
  readonly index: number
  readonly onChoose: (index: number) => void
}

/** A day and one of its hours: the slider alone has hundreds of steps. */
export function HourChoice({ hours, index, onChoose }: HourChoiceProps) {
  const said = words.value.reports
  const hour = hours[index]!
  const days = Map.groupBy(hours, dayOf)
  const sameDay = days.get(dayOf(hour)) ?? []
  /** The same time of another day, or the last one before it. */
  const chooseDay = (day: string) => {
    const ofDay = days.get(day)!
    onChoose(hours.indexOf(ofDay.findLast((one) => minute(one) <= minute(hour)) ?? ofDay[0]!))
  }
  return (
    <>
      <select
        aria-label={said.day}
        value={dayOf(hour)}
        onChange={(event) => chooseDay(event.currentTarget.value)}
      >
        {[...days.keys()].map((day) => (
          <option key={day} value={day}>
            {dayName(day)}
          </option>
        ))}
      </select>
      <select
        aria-label={said.hour}
        value={hour}
        onChange={(event) => onChoose(hours.indexOf(event.currentTarget.value))}
      >
        {sameDay.map((one) => (
          <option key={one} value={one}>
            {minute(one)}
          </option>
        ))}
      </select>
    </>
  )
}
