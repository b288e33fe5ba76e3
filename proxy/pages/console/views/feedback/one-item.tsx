import type { ComponentChild, TargetedKeyboardEvent } from 'preact'
import { useEffect } from 'preact/hooks'
import { Button, Segments } from '../../../design/button.tsx'
import { date } from '../../clock.ts'
import { Panel } from '../../parts/panel.tsx'
import { PilgrimLink } from '../../parts/pilgrim-link.tsx'
import { level, MANAGER } from '../../session.ts'
import { words } from '../../words.ts'
import {
  categoryText,
  type Item,
  keepTyped,
  saveNote,
  screenshotPath,
  STATUSES,
  takeBack,
  triage,
  typedNotes,
} from './items.ts'
import { kmAlong, measureRoute, unpackLines } from '#shared/core/rules/along-route.ts'
import { loadGround, route } from '../../map/ground.ts'
import { kmOnRoute, placeName } from '../../map/place-words.ts'
import { pageWords } from '../../../frame/language.ts'

export const OneItem = ({ item }: { readonly item: Item }) => {
  const said = words.value.feedback
  // On a narrow screen it stands above the board.
  useEffect(() => document.querySelector('.one-item')?.scrollIntoView({ block: 'nearest' }), [])
  return (
    <Panel title={`#${item.id} · ${categoryText(item.category)}`} kind="one-item">
      {level.value >= MANAGER ? (
        <Segments
          label={said.title}
          options={STATUSES.map((value, i) => ({ value, text: `${i + 1} ${said.columns[value]}` }))}
          value={item.status}
          onChoose={(status) => void moveByPress(item, status)}
        />
      ) : (
        <p>
          <span class="badge">{said.columns[item.status]}</span>
        </p>
      )}
      <div class="beside">
        <div class="stack">
          <p class="feedback-full">{item.description}</p>
          <Facts item={item} />
          {level.value >= MANAGER ? <Note item={item} /> : <ReadNote note={item.admin_note} />}
        </div>
        <Screenshot item={item} />
      </div>
    </Panel>
  )
}

/** The item stays chosen, so that the operator goes on with it; the change can be taken back. */
const moveByPress = (item: Item, status: Item['status']) =>
  triage(item, status, { name: words.value.schedule.undo, run: (change) => void takeBack(change) })

/** For those who may not write it. */
const ReadNote = ({ note }: { readonly note: string | null }) =>
  note === null ? null : (
    <p>
      <span class="small quiet">{words.value.feedback.note}</span>
      <br />
      {note}
    </p>
  )

const Facts = ({ item }: { readonly item: Item }) => {
  const said = words.value.feedback
  const place = placeOf(item.device_info)
  const facts: readonly (readonly [string, ComponentChild])[] = [
    [words.value.people.point.place, place === null ? null : <PlaceOfReport place={place} />],
    [said.contact, item.contact],
    [said.device, place === null ? item.device_info : null],
    [said.browser, item.user_agent],
  ]
  return (
    <dl class="about small">
      <div>
        <dt>{said.from}</dt>
        <dd>
          <From item={item} /> · {date(item.created_at)}
          {item.resolved_at === null ? null : ` · ${said.resolved} ${date(item.resolved_at)}`}
        </dd>
      </div>
      {facts.map(([name, value]) =>
        value === null ? null : (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ),
      )}
    </dl>
  )
}

function From({ item: { userId, display_name } }: { readonly item: Item }) {
  if (userId === null) return <>{display_name ?? words.value.feedback.anonymous}</>
  if (level.value < MANAGER) return <>{display_name ?? userId}</>
  return <PilgrimLink userId={userId} name={display_name} />
}

function Note({ item }: { readonly item: Item }) {
  const said = words.value.feedback
  const stored = item.admin_note
  const now = typedNotes.value.get(item.id) ?? null
  const type = (text: string) =>
    keepTyped(item.id, text === (stored ?? '') ? null : { begun: stored, told: false, ...now, text })
  const onKey = (event: TargetedKeyboardEvent<HTMLTextAreaElement>) => {
    if (event.key === 'Escape') event.currentTarget.blur()
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey) && now !== null) void saveNote(item, now)
  }
  return (
    <div class="field">
      <label for="feedback-note">{said.note}</label>
      <textarea
        id="feedback-note"
        maxLength={2_000}
        value={now?.text ?? stored ?? ''}
        onInput={(event) => type(event.currentTarget.value)}
        onKeyDown={onKey}
      />
      {now === null ? null : (
        <>
          {now.begun === stored ? null : <p class="warn-text small">{said.noteConflict(stored ?? '')}</p>}
          {now.begun === stored ? <p class="small">{said.noteTyped}</p> : null}
          <p class="row">
            <Button kind="primary" onClick={() => void saveNote(item, now)}>
              {words.value.common.save}
            </Button>
            <Button onClick={() => keepTyped(item.id, null)}>{pageWords.value.cancel}</Button>
          </p>
        </>
      )}
    </div>
  )
}

function Screenshot({ item }: { readonly item: Item }) {
  const said = words.value.feedback
  const path = screenshotPath(item.screenshot_url)
  if (path !== null)
    return (
      <a id="feedback-screenshot" class="screenshot" href={path} target="_blank" rel="noreferrer">
        <img src={path} alt={`${said.screenshot} #${item.id}`} loading="lazy" />
      </a>
    )
  return item.screenshot_url === null ? null : <p class="screenshot quiet small">{item.screenshot_url}</p>
}

// The place that the pilgrims' app puts into a report's `device_info`.

interface Place {
  readonly lat: number
  readonly lng: number
  /** Metres. */
  readonly accuracy: number
  /** ISO 8601. */
  readonly at: string
}

/** @param info whatever a client has sent */
function placeOf(info: string | null): Place | null {
  try {
    const { lat, lng, accuracy, at } = (JSON.parse(info ?? '') as { place: Place }).place
    const isPlace = [lat, lng, accuracy, Date.parse(at)].every(Number.isFinite)
    return isPlace ? { lat, lng, accuracy, at } : null
  } catch {
    return null
  }
}

/** Where it is on the route, in degrees for other maps, and how exact it was when. */
function PlaceOfReport({ place }: { readonly place: Place }) {
  useEffect(() => void loadGround(), [])
  const ground = route.value
  const { lat, lng, accuracy, at } = place
  const route_km =
    ground === null ? null : kmAlong(measureRoute(unpackLines(ground.lines), ground.km), [], place)
  const here = { lat, lng, route_km }
  const degrees = `${lat.toFixed(5)}, ${lng.toFixed(5)}`
  const names = route_km === null ? [] : [placeName(here, ground), kmOnRoute(here)]
  const exact = `± ${Math.round(accuracy)} m`
  return <>{[...names, degrees, exact, date(at)].join(' · ')}</>
}
