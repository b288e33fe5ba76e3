/** Feedback: a board by status, one item with its screenshot beside it, triage by keyboard. */
import type { Data } from '#shared/client/index.ts'
import { figure } from '#shared/locales/units.ts'
import { type Signal, useSignal } from '@preact/signals'
import type { TargetedKeyboardEvent } from 'preact'
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import { date } from '../../clock.ts'
import { loadGround } from '../../map/ground.ts'
import { placeOf, placeWords } from '../../map/place-words.tsx'
import { Ask, BusyButton, useSettled } from '../../parts/actions.tsx'
import { Choice, Field, SearchField } from '../../parts/fields.tsx'
import { Icon } from '../../parts/icon.tsx'
import { PagedList } from '../../parts/paged-list.tsx'
import { Facts, Panel } from '../../parts/panel.tsx'
import { PilgrimLink } from '../../parts/pilgrim-link.tsx'
import { isCutOff } from '../../live.ts'
import { MANAGER, client, level } from '../../session.ts'
import {
  type Change,
  type Item,
  STATUSES,
  type Status,
  categoryText,
  countsOf,
  inColumn,
  isOfSafety,
  itemsOf,
  keepTyped,
  ordered,
  saveNote,
  screenshotPath,
  takeBack,
  totalOf,
  triage,
  typedNotes,
} from './items.ts'
import { words } from '../../words.ts'
import { Button, Segments } from '../../../design/button.tsx'
import { showToast } from '../../../design/toast.tsx'
import { pageWords } from '../../../frame/language.ts'

const EVERY_MS = 15_000
const PAGE = 100
/** Number of cards shown initially and added with each click. */
const STEP = 25

type Filter = Status | ''

export function Feedback() {
  const items = useSignal<readonly Item[]>([])
  const shownAt = useSignal<number | null>(null)
  const chosen = useSignal<number | null>(null)
  const status = useSignal<Filter>('')
  const category = useSignal('')
  const typed = useSignal('')
  const search = useSettled(typed.value.trim())
  const choose = useCallback((id: number) => (chosen.value = id), [chosen])
  useTriageKeys({ items, chosen })
  const item = items.value.find(({ id }) => id === chosen.value) ?? null
  const messages = words.value.feedback
  return (
    <div class="view feedback">
      <PagedList
        title={words.value.nav.feedback}
        kind="board-panel"
        query={{
          limit: PAGE,
          ...(status.value === '' ? {} : { status: status.value }),
          ...(category.value === '' ? {} : { category: category.value }),
          ...(search === '' ? {} : { search }),
        }}
        read={client.listFeedback}
        everyMs={EVERY_MS}
        totalOf={(page) => totalOf(page, status.value)}
        actions={
          <SearchField
            class="feedback-search"
            label={words.value.common.search}
            value={typed.value}
            onType={(text) => (typed.value = text)}
          />
        }
      >
        {(page, list) => (
          <>
            <details class="small">
              <summary>
                {words.value.system.filter}
                <span class="keyboard-help"> · {messages.keys}</span>
              </summary>
              <div class="row">
                <StatusFilter page={page} chosen={status} />
                <Choice
                  bare
                  label={messages.about}
                  value={category.value}
                  options={[['', messages.about], ...Object.entries(messages.categories)]}
                  onChoose={(name) => (category.value = name)}
                />
                <span class="keyboard-help">
                  {level.value >= MANAGER ? messages.help : messages.helpRead}
                </span>
              </div>
            </details>
            {page.items.length === 0 ? <p>{words.value.common.none}</p> : null}
            {/* A changed filter starts with its first cards. */}
            <Page
              key={[status.value, category.value, search].join(' ')}
              page={page}
              chosen={chosen.value}
              onChoose={choose}
              shown={items}
              readAt={list.at.value}
              shownAt={shownAt}
            />
          </>
        )}
      </PagedList>
      {item === null ? null : <OneItem key={item.id} item={item} at={shownAt.value} />}
    </div>
  )
}

interface PageProps {
  readonly page: Data<'listFeedback'>
  readonly chosen: number | null
  readonly onChoose: (id: number) => void
  readonly shown: Signal<readonly Item[]>
  /** When the page was read, epoch milliseconds; null: it is the previous page. */
  readonly readAt: number | null
  readonly shownAt: Signal<number | null>
}

function Page({ page, chosen, onChoose, shown, readAt, shownAt }: PageProps) {
  const isFirst = useRef(true)
  const most = useSignal(STEP)
  const all = useMemo(() => ordered(itemsOf(page)), [page])
  // The selected item stays visible, wherever its new status sorts it.
  const items = useMemo(
    () => all.filter(({ id }, i) => i < most.value || id === chosen),
    [all, most.value, chosen],
  )
  // Before the page is painted: a key press may follow at once.
  useLayoutEffect(() => {
    shown.value = items
    shownAt.value = readAt ?? shownAt.peek()
    const [first] = inColumn(items, 'new')
    // Only if the item is shown beside the list.
    if (isFirst.current && first !== undefined && matchMedia('(width >= 75rem)').matches) onChoose(first.id)
    isFirst.current = false
  }, [items, shown, readAt, shownAt, onChoose])
  return (
    <>
      <Board items={items} counts={countsOf(page)} chosen={chosen} onChoose={onChoose} />
      {all.length > items.length ? (
        <p class="more-cards">
          <Button onClick={() => (most.value += STEP)}>{pageWords.value.more}</Button>
        </p>
      ) : null}
    </>
  )
}

interface FilterProps {
  readonly page: Data<'listFeedback'>
  readonly chosen: Signal<Filter>
}

const StatusFilter = ({ page, chosen }: FilterProps) => {
  const { columns } = words.value.feedback
  const listed = STATUSES.filter((status) => status === chosen.value || totalOf(page, status) !== 0)
  return (
    <Choice
      bare
      label={words.value.now.alerts}
      value={chosen.value}
      options={(['', ...listed] as const).map((status) => {
        const total = totalOf(page, status)
        const name = status === '' ? words.value.common.all : columns[status]
        return [status, total === null ? name : `${name} ${figure(total)}`]
      })}
      onChoose={(status) => (chosen.value = status)}
    />
  )
}

interface Props {
  readonly items: readonly Item[]
  /** Number of all items, including those on other pages. */
  readonly counts: Readonly<Record<Status, number>> | null
  readonly chosen: number | null
  readonly onChoose: (id: number) => void
}

const Board = ({ items, counts, chosen, onChoose }: Props) => (
  <div class="board">
    {STATUSES.map((status) => {
      const column = inColumn(items, status)
      if (column.length === 0) return null
      const all = counts?.[status] ?? column.length
      const shown = all === column.length ? figure(all) : `${figure(column.length)} / ${figure(all)}`
      const name = words.value.feedback.columns[status]
      return (
        <section key={status} aria-label={pageWords.value.pair(name, shown)} class={`column ${status}`}>
          <h3>
            {level.value >= MANAGER ? <kbd>{STATUSES.indexOf(status) + 1}</kbd> : null} {name}{' '}
            <span class="quiet">{shown}</span>
          </h3>
          <ul>
            {column.map((item) => (
              <Card key={item.id} item={item} isChosen={item.id === chosen} onChoose={onChoose} />
            ))}
          </ul>
        </section>
      )
    })}
  </div>
)

interface CardProps {
  readonly item: Item
  readonly isChosen: boolean
  readonly onChoose: (id: number) => void
}

function Card({ item, isChosen, onChoose }: CardProps) {
  const button = useRef<HTMLButtonElement>(null)
  // The keyboard may have selected it out of view.
  useEffect(() => {
    if (isChosen) button.current!.scrollIntoView({ block: 'nearest' })
  }, [isChosen])
  return (
    <li>
      <button
        type="button"
        class={isOfSafety(item) ? 'feedback-card safety' : 'feedback-card'}
        aria-pressed={isChosen}
        ref={button}
        onClick={() => onChoose(item.id)}
      >
        <span class="small quiet">
          #{item.id} · {categoryText(item.category)} · {date(item.created_at)}
          {item.screenshot_url === null ? null : (
            <>
              {' '}
              <Icon name="picture" />
              <span class="visually-hidden">{words.value.feedback.screenshot}</span>
            </>
          )}
        </span>
        <span class="feedback-text">{item.description}</span>
      </button>
    </li>
  )
}

// Keyboard control of the board. As in a mail program, an item that gets a status is replaced by the next
// one of the same column, and the last change can be undone.

interface Triage {
  readonly items: Signal<readonly Item[]>
  readonly chosen: Signal<number | null>
}

/**
 * Focuses the selected card once it is rendered, or the board if none is selected, so that the keys keep
 * working.
 */
function focusChosen(): void {
  requestAnimationFrame(() => {
    const card = document.querySelector<HTMLElement>('.feedback-card[aria-pressed="true"]')
    ;(card ?? document.querySelector<HTMLElement>('.board-panel'))?.focus()
  })
}

/**
 * The next item in the column, else the previous one.
 * @param leaving items whose change is in progress
 */
function nextInColumn(
  items: readonly Item[],
  { id, status }: Item,
  leaving: ReadonlySet<number>,
): Item | null {
  const column = inColumn(items, status)
  const at = column.findIndex((item) => item.id === id)
  const stays = (item: Item) => !leaving.has(item.id)
  return column.slice(at + 1).find(stays) ?? column.slice(0, at).findLast(stays) ?? null
}

function createTriage({ items, chosen }: Triage) {
  const changes: Change[] = []
  const leaving = new Set<number>()
  const undo = async (change = changes.at(-1)): Promise<void> => {
    const at = change === undefined ? -1 : changes.indexOf(change)
    if (change === undefined || at < 0) return
    changes.splice(at, 1)
    if ((await takeBack(change)) === null) return
    chosen.value = change.id
    focusChosen()
  }
  const move = async (item: Item, status: Status): Promise<void> => {
    if (item.status === status || leaving.has(item.id)) return
    leaving.add(item.id)
    const next = nextInColumn(items.value, item, leaving)?.id ?? null
    chosen.value = next
    focusChosen()
    const done = await triage(item, status, {
      name: words.value.feedback.undo,
      run: (change) => void undo(change),
    })
    leaving.delete(item.id)
    if (done !== null) {
      changes.push(done)
      return
    }
    // It was rejected: show the item in its current state, unless the operator has moved on.
    if (chosen.value !== next) return
    chosen.value = item.id
    focusChosen()
  }
  return { move, undo }
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && target.closest('input, textarea, select, dialog') !== null

const STEPS: Readonly<Record<string, number>> = { j: 1, k: -1 }
/** Only on a card: elsewhere the arrow keys scroll. */
const STEPS_ON_CARD: Readonly<Record<string, number>> = { ...STEPS, arrowdown: 1, arrowup: -1 }

function stepOf({ key, target }: KeyboardEvent): number | undefined {
  const isOnCard = target instanceof HTMLElement && target.matches('.feedback-card')
  return (isOnCard ? STEPS_ON_CARD : STEPS)[key.toLowerCase()]
}

const PLACES: Readonly<Record<string, string>> = { n: 'feedback-note', o: 'feedback-screenshot' }

/**
 * J, K and the arrows select, 1 to 5 set the status, Z undoes, N focuses the note, O opens the screenshot.
 */
function useTriageKeys(board: Triage): void {
  const { items, chosen } = board
  const actions = useRef<ReturnType<typeof createTriage> | null>(null)
  actions.current ??= createTriage(board)
  useEffect(() => {
    const { move, undo } = actions.current!
    const step = (by: number): void => {
      const all = ordered(items.value)
      const at = all.findIndex(({ id }) => id === chosen.value)
      // An item that the page selected itself counts as the first.
      const isOnCard = document.activeElement?.matches('.feedback-card') === true
      const next = all[Math.max(0, Math.min(all.length - 1, at < 0 || isOnCard ? at + by : at))]
      if (next === undefined) return
      chosen.value = next.id
      focusChosen()
    }
    const listen = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return
      const key = event.key.toLowerCase()
      const by = stepOf(event)
      if (by !== undefined) {
        event.preventDefault()
        step(by)
        return
      }
      if (key === 'z') void undo()
      const item = items.value.find(({ id }) => id === chosen.value)
      if (item === undefined) return
      const status = STATUSES[Number(key) - 1]
      if (status !== undefined && level.value >= MANAGER) void move(item, status)
      const place = PLACES[key]
      if (place === undefined) return
      event.preventDefault()
      document.getElementById(place)?.focus()
    }
    addEventListener('keydown', listen)
    return () => removeEventListener('keydown', listen)
  }, [items, chosen])
}

const OneItem = ({ item, at }: { readonly item: Item; readonly at: number | null }) => {
  const messages = words.value.feedback
  // On a narrow screen it is above the board.
  useEffect(() => document.querySelector('.one-item')?.scrollIntoView({ block: 'nearest' }), [])
  return (
    <Panel
      title={`#${item.id} · ${categoryText(item.category)}`}
      kind="one-item"
      stale={isCutOff.value}
      at={at}
    >
      {level.value >= MANAGER ? (
        <Segments
          label={words.value.nav.feedback}
          options={STATUSES.map((value, i) => ({ value, text: `${i + 1} ${messages.columns[value]}` }))}
          value={item.status}
          onChoose={(status) => void moveByPress(item, status)}
        />
      ) : (
        <p>
          <span class="badge">{messages.columns[item.status]}</span>
        </p>
      )}
      <div class="beside">
        <div class="stack">
          <p class="feedback-full">{item.description}</p>
          <ItemFacts item={item} />
          {level.value >= MANAGER ? <Note item={item} /> : <ReadNote note={item.admin_note} />}
          <OnPublicBoard item={item} />
        </div>
        <Screenshot item={item} />
      </div>
    </Panel>
  )
}

/** The item's public text. A manager hides it from the public board, with a reason, or restores it. */
function OnPublicBoard({ item: { id, hidden_at, hidden_reason, marks } }: { readonly item: Item }) {
  const messages = words.value.feedback
  const reason = useSignal('')
  const isHidden = hidden_at !== null
  return (
    <div class="stack">
      {isHidden ? (
        <p>
          <span class="badge">{messages.offBoard}</span> {date(hidden_at)} · {hidden_reason}
        </p>
      ) : marks.length === 0 ? null : (
        <p class="warn-text">{marks.map((mark) => messages.marks[mark]).join(' ')}</p>
      )}
      {level.value < MANAGER ? null : (
        <p>
          <Ask
            ask={isHidden ? messages.putBack : `${messages.takeOff}…`}
            title={isHidden ? messages.putBack : messages.takeOff}
            button={isHidden ? messages.putBack : messages.takeOff}
            disabled={!isHidden && reason.value.trim() === ''}
            run={() =>
              client.updateFeedback(
                isHidden ? { id, hidden: false } : { id, hidden: true, reason: reason.value },
              )
            }
            onDone={() => {
              reason.value = ''
              showToast(isHidden ? messages.isBack : messages.isOff)
            }}
          >
            <p>{isHidden ? messages.putBackText : messages.takeOffText}</p>
            {isHidden ? null : (
              <Field
                label={messages.reason}
                name="reason"
                maxLength={500}
                value={reason.value}
                onType={(typed) => (reason.value = typed)}
              />
            )}
          </Ask>
        </p>
      )}
    </div>
  )
}

/** The item stays selected, so that the operator can continue; the change can be undone. */
const moveByPress = (item: Item, status: Item['status']) =>
  triage(item, status, { name: words.value.schedule.undo, run: (change) => void takeBack(change) })

const ReadNote = ({ note }: { readonly note: string | null }) =>
  note === null ? null : (
    <p>
      <span class="small quiet">{words.value.feedback.note}</span>
      <br />
      {note}
    </p>
  )

const ItemFacts = ({ item }: { readonly item: Item }) => {
  const messages = words.value.feedback
  const place = placeOfDevice(item.device_info)
  const from = (
    <>
      <From item={item} /> · {date(item.created_at)}
      {item.resolved_at === null ? null : ` · ${messages.resolved} ${date(item.resolved_at)}`}
    </>
  )
  return (
    <Facts
      of="about small"
      facts={[
        [messages.from, from],
        [words.value.people.point.place, place === null ? messages.noPlace : <PlaceOfReport place={place} />],
        [messages.contact, item.contact],
        [messages.device, place === null ? item.device_info : null],
        [messages.browser, item.user_agent],
      ]}
    />
  )
}

function From({ item: { userId, display_name } }: { readonly item: Item }) {
  if (userId === null) return <>{display_name ?? words.value.feedback.anonymous}</>
  if (level.value < MANAGER) return <>{display_name ?? userId}</>
  return <PilgrimLink userId={userId} name={display_name} />
}

function Note({ item }: { readonly item: Item }) {
  const messages = words.value.feedback
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
      <label for="feedback-note">{messages.note}</label>
      <textarea
        id="feedback-note"
        maxLength={2_000}
        value={now?.text ?? stored ?? ''}
        onInput={(event) => type(event.currentTarget.value)}
        onKeyDown={onKey}
      />
      {now === null ? null : (
        <>
          {now.begun === stored ? null : <p class="warn-text small">{messages.noteConflict(stored ?? '')}</p>}
          {now.begun === stored ? <p class="small">{messages.noteTyped}</p> : null}
          <p class="row">
            <BusyButton kind="primary" run={() => saveNote(item, now)}>
              {words.value.common.save}
            </BusyButton>
            <Button onClick={() => keepTyped(item.id, null)}>{pageWords.value.cancel}</Button>
          </p>
        </>
      )}
    </div>
  )
}

function Screenshot({ item }: { readonly item: Item }) {
  const messages = words.value.feedback
  const path = screenshotPath(item.screenshot_url)
  if (path !== null)
    return (
      <a id="feedback-screenshot" class="screenshot" href={path} target="_blank" rel="noreferrer">
        <img src={path} alt={`${messages.screenshot} #${item.id}`} loading="lazy" />
      </a>
    )
  return item.screenshot_url === null ? null : <p class="screenshot quiet small">{item.screenshot_url}</p>
}

// The position that the pilgrims' app puts into a report's `device_info`.

interface Place {
  readonly lat: number
  readonly lng: number
  /** Metres. */
  readonly accuracy: number
  /** ISO 8601. */
  readonly at: string
}

/** @param info untrusted client data */
function placeOfDevice(info: string | null): Place | null {
  try {
    const { lat, lng, accuracy, at } = (JSON.parse(info ?? '') as { place: Place }).place
    const isPlace = [lat, lng, accuracy, Date.parse(at)].every(Number.isFinite)
    return isPlace ? { lat, lng, accuracy, at } : null
  } catch {
    return null
  }
}

function PlaceOfReport({ place }: { readonly place: Place }) {
  useEffect(() => void loadGround(), [])
  const { lat, lng, accuracy, at } = place
  const here = placeOf(lat, lng)
  const { name, km } = placeWords(here)
  const degrees = `${lat.toFixed(5)}, ${lng.toFixed(5)}`
  const names = here.route_km === null ? [] : [name, km].filter((text) => text !== null)
  const exact = `± ${Math.round(accuracy)} m`
  return <>{[...names, degrees, exact, date(at)].join(' · ')}</>
}
