/** Emergencies at the top of every view, until an operator confirms them. */
import { telephoneUri } from '#shared/core/rules/telephone.ts'
import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { Data } from '#shared/client/index.ts'
import { ago, clock } from '../clock.ts'
import { kmOnRoute, placeName, placeOf } from '../map/place-words.tsx'
import { loadGround, route } from '../map/ground.ts'
import { BusyButton, act } from '../parts/actions.tsx'
import { PilgrimLink } from '../parts/pilgrim-link.tsx'
import { sentenceOf, useStale } from '../parts/panel.tsx'
import { useResource } from '../resource.ts'
import { show } from '../router.ts'
import { client, level, MANAGER } from '../session.ts'
import { pair, words } from '../words.ts'

type Emergency = Data<'listEmergencies'>['items'][number]

/** A token has 30 calls a minute for all its tabs. */
const EVERY_MS = 30_000

/**
 * Emergencies of pilgrims without any point may be fake: beyond this number they are collapsed below the
 * others.
 */
const MOST_INVENTED = 5

/** Some operator must look: the document's title says so, for a tab in the background. */
export const hasEmergency = signal(false)

/** Volunteers may not read emergencies. */
export const EmergencyBar = () => (level.value < MANAGER ? null : <Bar />)

function Bar() {
  const list = useResource(client.listEmergencies, EVERY_MS, 'emergencies', {}, true)
  const stale = useStale(list)
  const { title } = words.value.emergencies
  const open = list.value.value?.items.filter(({ confirmed_at: at }) => at === null) ?? []
  const isOpen = open.length > 0
  const total = list.value.value?.unconfirmed ?? 0
  // Those with points come first.
  const withPoints = open.filter(({ has_points: has }) => has).length
  const shown = open.slice(0, open.length - withPoints > MOST_INVENTED ? withPoints : open.length)
  const folded = open.slice(shown.length)
  // The bar about the rate limit explains a 429.
  const error = list.error.value?.status === 429 ? null : list.error.value
  const isUnread = error !== null
  useEffect(() => {
    if (isOpen) void loadGround()
    hasEmergency.value = isOpen || isUnread
    return () => (hasEmergency.value = false)
  }, [isOpen, isUnread])
  // Announced once per emergency: its text stays the same.
  return (
    <div class="emergencies" role="alert">
      {shown.map((emergency) => (
        <Row key={emergency.id} emergency={emergency} />
      ))}
      {folded.length === 0 ? null : (
        <details>
          <summary>{words.value.emergencies.withoutPoints(total - shown.length)}</summary>
          {folded.map((emergency) => (
            <Row key={emergency.id} emergency={emergency} />
          ))}
        </details>
      )}
      {error === null ? null : <p class="small">{pair(title, sentenceOf(error))}</p>}
      {isOpen && stale ? <p class="small">{pair(words.value.common.stale, clock(list.at.value!))}</p> : null}
    </div>
  )
}

interface RowProps {
  readonly emergency: Emergency
}

function Row({ emergency }: RowProps) {
  const messages = words.value.emergencies
  const { id, userId, display_name: name, phone, presses, last_press_at: pressedAt } = emergency
  return (
    <section class="emergency">
      <p class="emergency-of">
        <strong>{messages.title}</strong> <PilgrimLink userId={userId} name={name} />
      </p>
      <p>
        {clock(pressedAt)} <span aria-hidden="true">({ago(pressedAt)})</span>
        {presses > 1 ? ` · ${messages.presses(presses)}` : null}
      </p>
      <Place emergency={emergency} />
      {phone === null ? (
        <p>{messages.noPhone}</p>
      ) : (
        <a class="button" href={telephoneUri(phone)}>
          {phone}
        </a>
      )}
      <BusyButton run={() => act(client.confirmEmergency({ id }), () => messages.confirmed)}>
        {messages.confirm}
      </BusyButton>
    </section>
  )
}

/** The place as text, linked to the map. */
function Place({ emergency: { userId, display_name: name, place } }: RowProps) {
  const messages = words.value.emergencies
  if (place === null) return <p>{messages.noPlace}</p>
  const { lat, lng, accuracy, at, of_press: ofPress } = place
  const onRoute = placeOf(lat, lng)
  const where = [placeName(onRoute, route.value), kmOnRoute(onRoute)].filter((part) => part !== null)
  return (
    <p>
      <button
        type="button"
        class="name-button inline"
        onClick={() =>
          show('now', { panel: 'map-panel', at: { id: userId, lat, lng, name: name ?? userId } })
        }
      >
        {where.join(' · ')}
      </button>
      {accuracy === null ? null : ` ±${Math.round(accuracy)} m`}
      {ofPress ? null : ` · ${pair(messages.lastPlace, clock(at))}`}
    </p>
  )
}
