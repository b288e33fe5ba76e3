/** Which day of the way is looked at: the one before, the one after, or any. Nothing where there is one day alone. */
import { words } from '../words.ts'
import { useSignal } from '@preact/signals'
import { Button } from '../../design/button.tsx'
import { dayText } from '../format.ts'
import { ownSums, showDay, shownDay } from '../way/own-way.ts'

export function DaySwitch() {
  const busy = useSignal(false)
  const days = ownSums.value?.days ?? []
  const index = days.findIndex(({ day }) => day === shownDay.value?.day)
  if (index < 0 || days.length === 1) return null
  const choose = async (day: string | undefined) => {
    if (day === undefined) return
    busy.value = true
    await showDay(day)
    busy.value = false
  }
  return (
    <div class="day-switch" aria-busy={busy.value}>
      <Button
        icon
        label={words.value.way.dayBefore}
        disabled={index === 0}
        onClick={() => void choose(days[index - 1]?.day)}
      >
        ‹
      </Button>
      <select
        aria-label={words.value.way.day}
        value={days[index]!.day}
        onChange={({ currentTarget }) => void choose(currentTarget.value)}
      >
        {days.map(({ day }) => (
          <option key={day} value={day}>
            {dayText(day)}
          </option>
        ))}
      </select>
      <Button
        icon
        label={words.value.way.dayAfter}
        disabled={index === days.length - 1}
        onClick={() => void choose(days[index + 1]?.day)}
      >
        ›
      </Button>
    </div>
  )
}
