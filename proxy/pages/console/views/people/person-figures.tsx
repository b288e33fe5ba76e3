import { SILENT_HOURS } from '#shared/rules/silence.ts'
import { Emblem } from '../../../design/emblem.tsx'
import { useEffect } from 'preact/hooks'
import { ago, date, dayName, fullDate, now, number, oneDigit } from '../../clock.ts'
import { loadGround, route } from '../../map/ground.ts'
import { kmOnRoute, placeName, placeOf } from '../../map/place-words.ts'
import { distancesOf, ridden } from '../../parts/distances.ts'
import { Figure, Figures } from '../../parts/figure.tsx'
import { consoleLanguage, fill, words } from '../../words.ts'
import { LeftOutOfDay } from './left-out.tsx'
import type { Detail } from './detail.ts'

interface Props {
  readonly person: Detail
  /** Leads to the points that are not in the sum. */
  readonly onLeftOut: () => void
}

/** Figures of a pilgrim, each with its reason. */
export const PersonFigures = ({ person, onLeftOut }: Props) => {
  const said = words.value.people
  const levelName = person.level_name[consoleLanguage.value === 'en' ? 'en' : 'zh']
  return (
    <>
      <p class="row level-line">
        <Emblem level={person.level} />
        <strong>
          {fill(said.level, { level: person.level })} · {levelName}
        </strong>
        <span class="quiet small">{nextText(person)}</span>
      </p>
      <Where person={person} />
      <Figures>
        <Figure
          label={said.sorts.km}
          value={oneDigit(person.km)}
          unit="km"
          note={[
            fill(said.kmReason, {
              points: number(person.stored_points),
              pending: person.pending === null ? '?' : number(person.pending),
            }),
            seenText(person),
          ]
            .filter(Boolean)
            .join(' · ')}
        />
        <Figure label={said.sorts.checkins} value={number(person.checkins)} note={lastCheckInText(person)} />
        <Figure label={said.co2} value={oneDigit(person.carbon_kg)} unit="kg" note={said.co2Reason} />
        <Figure
          label={said.saved}
          value={oneDigit(person.carbon_saved_kg)}
          unit="kg"
          note={said.savedReason}
        />
      </Figures>
      <Travelled day={person.latest_day} />
      {person.latest_day === null ? null : <LeftOutOfDay day={person.latest_day} onShow={onLeftOut} />}
    </>
  )
}

/** `near Da'an km 254.3 Nov 23, 22:15 (12 min. ago)`, from the latest point. */
function Where({ person: { latest_day, last_seen } }: Pick<Props, 'person'>) {
  useEffect(() => void loadGround(), [])
  const said = words.value.people
  const last = latest_day?.last ?? null
  if (last === null)
    return last_seen === null ? null : (
      <p class="small quiet">{fill(said.seenAt, { time: date(last_seen) })}</p>
    )
  const place = placeOf(last.lat, last.lng)
  const km = kmOnRoute(place)
  return (
    <p class="row where">
      <strong>{placeName(place, route.value)}</strong>
      {km === null ? null : <span>{km}</span>}
      <span title={fullDate(last.recorded_at)}>
        {date(last.recorded_at)} <span class="quiet">({ago(last.recorded_at)})</span>
      </span>
      {now.value - Date.parse(last.recorded_at) < SILENT_MS ? null : (
        <span class="quiet small">{said.silentWhy}</span>
      )}
    </p>
  )
}

const SILENT_MS = SILENT_HOURS * 3_600_000

/** `Mon, Nov 23: 31.3 km in all, of which 28.1 km by bus`. */
function Travelled({ day }: { readonly day: Detail['latest_day'] }) {
  if (day === null) return null
  const onFoot = fill(words.value.reports.allOnFoot, { km: oneDigit(distancesOf(day).all) })
  return <p>{`${dayName(day.day)}: ${ridden(day) ?? onFoot}`}</p>
}

function nextText({ next_level }: Detail): string {
  const said = words.value.people
  if (next_level === null) return said.nextNone
  const { level, km_needed, checkins_needed } = next_level
  // What is reached already is not named.
  const what = [
    km_needed > 0 ? fill(said.nextKm, { km: number(km_needed) }) : '',
    checkins_needed > 0
      ? fill(checkins_needed === 1 ? said.nextCheckins.one : said.nextCheckins.other, {
          count: number(checkins_needed),
        })
      : '',
  ].filter((part) => part !== '')
  return fill(said.next, { level, what: what.join(' + ') })
}

const lastCheckInText = ({ recent_checkins: [last] }: Detail): string | undefined =>
  last === undefined ? undefined : fill(words.value.people.lastCheckIn, { time: date(last.recorded_at) })

const seenText = ({ first_seen, last_seen }: Detail): string | undefined =>
  first_seen === null || last_seen === null ? undefined : `${date(first_seen)} – ${date(last_seen)}`
