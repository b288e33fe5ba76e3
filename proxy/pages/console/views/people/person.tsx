/**
 * Everything about one pilgrim. Each read is in the audit log, so it is read once, after each action, and on
 * request.
 */
import type { Answer } from '#shared/client/index.ts'
import { CARD_CHECKINS } from '#shared/core/rules/levels.ts'
import { SILENT_HOURS } from '#shared/core/rules/silence.ts'
import { figure, kmToGo } from '#shared/locales/units.ts'
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { ago, date, dayName, fullDate, now } from '../../clock.ts'
import { loadGround, route } from '../../map/ground.ts'
import { leaderName } from '../../event.ts'
import { kmOnRoute, placeName, placeOf } from '../../map/place-words.tsx'
import { Ask, BusyButton, ROLES, act, assignRole, warn } from '../../parts/actions.tsx'
import { distancesOf, ridden } from '../../parts/distances.ts'
import { personFileName, saveBlob } from '../../parts/download.ts'
import { Choice } from '../../parts/fields.tsx'
import { Facts, Figure, Figures, PanelFrom, sentenceOf } from '../../parts/panel.tsx'
import { Listed } from '../../parts/paged-list.tsx'
import { useResource } from '../../resource.ts'
import { OWNER, client, level, role } from '../../session.ts'
import { categoryText } from '../feedback/items.ts'
import { Reason } from '../messages/left-out-people.tsx'
import { type Detail, LeftOutOfDay, PersonPoints } from './person-points.tsx'
import { consoleLanguage, inKm, pair, units, words } from '../../words.ts'
import { Button, Segments } from '../../../design/button.tsx'
import { Emblem } from '../../../design/emblem.tsx'
import { showToast } from '../../../design/toast.tsx'

const TABS = ['figures', 'points', 'messages', 'about'] as const
type Tab = (typeof TABS)[number]

interface PersonProps {
  readonly userId: string
  /** As shown before; null: unknown. */
  readonly name: string | null
  readonly onBack: () => void
}

export function Person({ userId, name: shownName, onBack }: PersonProps) {
  const detail = useResource(client.readUser, 0, 'user', { userId })
  const tab = useSignal<Tab>('figures')
  const onlyOut = useSignal(false)
  const messages = words.value.people
  const showLeftOut = () => {
    onlyOut.value = true
    tab.value = 'points'
  }
  const name = detail.value.value?.display_name ?? shownName ?? userId
  return (
    <PanelFrom
      title={name}
      kind="person"
      from={detail}
      actions={
        <Button kind="plain" icon label={messages.back} onClick={onBack}>
          ✕
        </Button>
      }
    >
      {(person) => (
        <>
          <Segments
            label={name}
            options={TABS.map((value) => ({ value, text: messages.tabs[value] }))}
            value={tab.value}
            onChoose={(chosen) => (tab.value = chosen)}
          />
          {tab.value === 'figures' ? <PersonFigures person={person} onLeftOut={showLeftOut} /> : null}
          {tab.value === 'points' ? <PersonPoints userId={userId} onlyOut={onlyOut} /> : null}
          {tab.value === 'messages' ? <PersonMessages userId={userId} /> : null}
          {tab.value === 'about' ? <PersonAbout person={person} onErased={onBack} /> : null}
          <p class="small quiet">{messages.audited}</p>
        </>
      )}
    </PanelFrom>
  )
}

const PersonAbout = ({ person, onErased }: ActionsProps) => {
  const messages = words.value.people
  return (
    <>
      <Facts
        facts={[
          [messages.id, person.userId],
          [messages.phone, person.phone ?? '–'],
          [messages.reach, person.reachable ? messages.reachable : messages.unreachable],
          [words.value.messages.devices, figure(person.push_devices)],
          [messages.columns.role, roleText(person)],
          [messages.consent, consentText(person)],
          [messages.survey, person.survey === null ? messages.noSurvey : date(person.survey.submitted_at)],
          [messages.card, cardText(person)],
          [messages.photos, person.photo_count],
          [
            words.value.nav.feedback,
            person.recent_feedback.map(({ id, category }) => `#${id} ${categoryText(category)}`).join(', ') ||
              '–',
          ],
        ]}
      />
      <PersonLinks person={person} />
      <PersonActions person={person} onErased={onErased} />
    </>
  )
}

const roleText = ({ role: given, role_assigned_by: by }: Detail): string =>
  (given === null ? words.value.people.noRole : words.value.roles[given]) +
  (by === null ? '' : ` · ${words.value.common.by} ${by}`)

function consentText({
  consent_withdrawn,
  privacy_agreed,
  privacy_version,
  privacy_agreed_at,
}: Detail): string {
  const messages = words.value.people
  if (consent_withdrawn) return messages.withdrawnConsent
  if (!privacy_agreed) return messages.notAgreed
  const at = privacy_agreed_at === null ? '' : ` · ${date(privacy_agreed_at)}`
  return [messages.agreed, privacy_version].filter((part) => part !== null).join(' ') + at
}

function cardText({ achievement_card: card, checkins, survey_completed: surveyed, phone }: Detail): string {
  const messages = words.value.people
  if (card === 'unlocked') return messages.cardEarned
  const missing = [
    ...(checkins < CARD_CHECKINS ? [messages.checkIns(CARD_CHECKINS - checkins)] : []),
    ...(surveyed === 1 ? [] : [messages.survey]),
    ...(phone === null ? [messages.phone] : []),
  ]
  return pair(messages.cardMissing, new Intl.ListFormat(consoleLanguage.value).format(missing))
}

interface Props {
  readonly person: Detail
  readonly onLeftOut: () => void
}

const PersonFigures = ({ person, onLeftOut }: Props) => {
  const messages = words.value.people
  const levelName = person.level_name[consoleLanguage.value === 'en' ? 'en' : 'zh']
  return (
    <>
      <p class="row level-line">
        <Emblem level={person.level} />
        <strong>
          {messages.columns.level} {person.level} · {levelName}
        </strong>
        <span class="quiet small">{nextText(person)}</span>
      </p>
      <Where person={person} />
      <Figures>
        <Figure
          label={messages.distance}
          value={figure(person.km)}
          unit={words.value.reports.series.km}
          note={[
            messages.points(person.stored_points),
            person.pending === 0 ? '' : `${person.pending ?? '?'} ${messages.waits}`,
          ]
            .filter(Boolean)
            .join(' · ')}
        />
        <Figure
          label={messages.columns.checkins}
          value={figure(person.checkins)}
          note={lastCheckInText(person)}
        />
        <Figure
          label={words.value.reports.total}
          value={figure(person.carbon_kg)}
          unit={units.value.kg}
          note={reportedText(person)}
        />
        <Figure
          label={words.value.reports.saved}
          value={figure(person.carbon_saved_kg)}
          unit={units.value.kg}
        />
      </Figures>
      <Travelled day={person.latest_day} />
      {person.latest_day === null ? null : <LeftOutOfDay day={person.latest_day} onShow={onLeftOut} />}
    </>
  )
}

/** `+ Train 12 km · Bottle, 500 ml: 3`: the reported part of the footprint, beside the recorded way. */
function reportedText({ transport, consumption }: Detail): string | undefined {
  const { units } = words.value.reports.method
  const pieces = Object.entries(units).flatMap(([unit, name]) =>
    (consumption[unit] ?? 0) > 0 ? [pair(name, figure(consumption[unit]!))] : [],
  )
  const parts = [ridden({ recorded_km: transport }) ?? [], pieces].flat()
  return parts.length === 0 ? undefined : `+ ${parts.join(' · ')}`
}

/** `near Da'an km 254.3 Nov 23, 22:15 (12 min. ago)`, from the latest point. */
function Where({ person: { latest_day, last_seen } }: Pick<Props, 'person'>) {
  useEffect(() => void loadGround(), [])
  const messages = words.value.people
  const last = latest_day?.last ?? null
  if (last === null)
    return last_seen === null ? null : (
      <p class="small quiet">{pair(messages.columns.seen, date(last_seen))}</p>
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
        <span class="quiet small">{messages.silentWhy}</span>
      )}
    </p>
  )
}

const SILENT_MS = SILENT_HOURS * 3_600_000

/** `Mon, Nov 23 · Walk 3.2 km · Bus 28.1 km`. */
function Travelled({ day }: { readonly day: Detail['latest_day'] }) {
  if (day === null) return null
  const { walk } = words.value.reports.modes
  const onFoot = `${walk} ${inKm(distancesOf(day).walked)}`
  return <p>{[dayName(day.day), onFoot, ridden(day)].filter(Boolean).join(' · ')}</p>
}

function nextText({ km, next_level }: Detail): string {
  const messages = words.value.people
  if (next_level === null) return ''
  const { km_needed, checkins_needed } = next_level
  // Requirements that are already met are omitted.
  const what = [
    km_needed > 0 ? `${kmToGo(km_needed, km)} ${units.value.km}` : '',
    checkins_needed > 0 ? messages.checkIns(checkins_needed) : '',
  ].filter((part) => part !== '')
  return pair(messages.next, what.join(' + '))
}

const lastCheckInText = ({ recent_checkins: [last] }: Detail): string | undefined =>
  last === undefined ? undefined : `${words.value.people.last} ${date(last.recorded_at)}`

// Trackers and links of a pilgrim, which an operator revokes when a phone is lost.

const PersonLinks = ({ person: { userId, trackers, shares } }: { readonly person: Detail }) => {
  const messages = words.value.people
  return (
    <>
      <ul class="rows">
        {trackers.map(({ id, label, created_at }) => (
          <li key={id}>
            <strong>{messages.tracker}</strong>
            <span class="grow">
              {label} <span class="small quiet">{date(created_at)}</span>
            </span>
            <Revoke
              button={messages.revoke}
              title={`${messages.revoke} ${words.value.common.quoted(label || messages.tracker)}`}
              text={messages.revokeTrackerText}
              run={() => client.revokeTrackerOfUser({ userId, id })}
            />
          </li>
        ))}
        {shares.map(({ made_by, created_at, expires_at }) => (
          <li key={`${made_by} ${created_at}`}>
            <strong>{messages.shareLink}</strong>
            <span class="grow small quiet">
              {date(created_at)} · {messages.until} {date(expires_at)}
            </span>
          </li>
        ))}
      </ul>
      {shares.length === 0 ? null : (
        <p>
          <Revoke
            button={messages.revokeShares}
            title={messages.revokeShares}
            text={messages.revokeSharesText}
            run={() => client.revokeSharesOfUser({ userId })}
          />
        </p>
      )}
    </>
  )
}

interface RevokeProps {
  readonly button: string
  readonly title: string
  readonly text: string
  readonly run: () => Promise<Answer<unknown>>
}

const REVOKED_MS = 8_000

/** A revoked key or link cannot be restored, so it asks for confirmation. */
function Revoke({ button, title, text, run }: RevokeProps) {
  return (
    <Ask
      ask={`${button}…`}
      title={title}
      button={button}
      danger
      run={run}
      onDone={() => showToast(words.value.people.revoked, { forMs: REVOKED_MS })}
    >
      <p>{text}</p>
    </Ask>
  )
}

const TONES = { sent: 'good', failed: 'danger', waiting: 'warning', skipped: '' } as const

function PersonMessages({ userId }: { readonly userId: string }) {
  const list = useResource(client.listUserMessages, 0, 'messages', { userId })
  return (
    <PanelFrom title={words.value.people.tabs.messages} kind="inner" from={list}>
      {({ items }) => (
        <Listed>
          {items.map((message) => (
            <li key={message.id}>
              <span class="small quiet">{date(message.created_at)}</span>
              <span class={`badge ${TONES[message.state]}`}>
                {words.value.people.messageStates[message.state]}
              </span>
              <span class="grow">
                {message.text ?? '–'}
                {message.detail === null ? null : (
                  <span class="small warn-text">
                    {' '}
                    <Reason detail={message.detail} />
                  </span>
                )}
              </span>
              <span class="small quiet">{words.value.messages.causes[message.cause]}</span>
            </li>
          ))}
        </Listed>
      )}
    </PanelFrom>
  )
}

const STATES = ['active', 'completed', 'withdrawn'] as const

interface ActionsProps {
  readonly person: Detail
  readonly onErased: () => void
}

const PersonActions = ({ person, onErased }: ActionsProps) => (
  <fieldset class="row person-actions">
    <legend>{words.value.people.actions}</legend>
    <SetStatus person={person} />
    <SetRole person={person} />
    <SetPalanquin person={person} />
    {level.value >= OWNER ? (
      <>
        <Export person={person} />
        <Erase person={person} onErased={onErased} />
      </>
    ) : null}
    <RoleHelp person={person} />
  </fieldset>
)

/** Explains the role, which is easily mistaken for access rights. */
const RoleHelp = ({ person: { role: given, reachable } }: Pick<ActionsProps, 'person'>) => {
  const messages = words.value.people
  return (
    <p class="small quiet action-help">
      {messages.roleHelp}
      {given === null || reachable ? null : <strong class="warn-text"> {messages.roleUnreached}</strong>}
    </p>
  )
}

interface SavedChoiceProps<T extends string> {
  readonly label: string
  readonly value: T
  readonly options: readonly (readonly [T, string])[]
  readonly save: (chosen: T) => Promise<unknown>
}

/** A choice that is saved by a button, so that an arrow key alone changes nothing. */
function SavedChoice<T extends string>({ label, value, options, save }: SavedChoiceProps<T>) {
  const chosen = useSignal(value)
  return (
    <>
      <Choice
        label={label}
        value={chosen.value}
        options={options}
        onChoose={(choice) => (chosen.value = choice)}
      />
      {chosen.value === value ? null : (
        <BusyButton run={() => save(chosen.value)}>{words.value.common.save}</BusyButton>
      )}
    </>
  )
}

function SetStatus({ person: { userId, participant_status: seen } }: Pick<ActionsProps, 'person'>) {
  const messages = words.value.people
  const set = (status: (typeof STATES)[number], before: (typeof STATES)[number]): Promise<unknown> =>
    act(
      client.setUserStatus({ userId, status, seen: before }),
      (data) => pair(messages.columns.state, messages.status[data.participant_status]),
      () => ({
        group: 'status',
        action: { name: words.value.schedule.undo, run: () => void set(before, status) },
      }),
    )
  return (
    <SavedChoice
      key={seen}
      label={messages.columns.state}
      value={seen}
      options={STATES.map((state) => [state, messages.status[state]])}
      save={(status) => set(status, seen)}
    />
  )
}

function SetRole({ person }: Pick<ActionsProps, 'person'>) {
  const messages = words.value.people
  // An operator cannot assign a role above their own tier.
  const offered = ROLES.filter((_, i) => i < (role.value?.level ?? 0))
  const given = person.role ?? ''
  return (
    <SavedChoice
      key={given}
      label={messages.columns.role}
      value={given}
      options={[['', messages.noRole], ...offered.map((name) => [name, words.value.roles[name]] as const)]}
      save={(chosen) => assignRole(person.userId, chosen === '' ? null : chosen, person.role)}
    />
  )
}

/**
 * Makes the pilgrim's position public as the palanquin's. Only one device moves it; other writes for the
 * pilgrim do not.
 */
function SetPalanquin({ person }: Pick<ActionsProps, 'person'>) {
  const { userId, palanquin, palanquin_tracker: tracker, known_to_others: known, trackers } = person
  const messages = words.value.people
  const leader = leaderName.value
  const devices = [
    ...(known ? [] : [['', messages.leaderPhone] as const]),
    ...trackers.map(({ id, label }) => [id, `${label ?? messages.tracker} · ${id.slice(0, 8)}`] as const),
  ]
  const picked = useSignal<string | null>(null)
  // A tracker may have been revoked since it was selected.
  const chosen = [picked.value, tracker, devices[0]?.[0]].find((id) =>
    devices.some(([device]) => device === id),
  )
  if (leader === '') return null
  // Set by an earlier release without a device, or its tracker was revoked.
  const isUnbound = palanquin && !devices.some(([id]) => id === (tracker ?? ''))
  const isLeading = palanquin && !isUnbound
  const act = (isLeading ? messages.hideLeader : messages.showLeader)(leader)
  return (
    <>
      <Ask
        ask={`${leader}…`}
        pressed={palanquin}
        title={act}
        button={act}
        disabled={!isLeading && chosen === undefined}
        run={() => client.setPalanquin({ userId, palanquin: !isLeading, tracker: chosen || null })}
        onDone={(data) => showToast((data.palanquin ? messages.isLeader : messages.isNoLeader)(leader))}
      >
        <p>{(isLeading ? messages.isNoLeader : messages.isLeader)(leader)}</p>
        {isLeading || trackers.length === 0 ? null : (
          <>
            <Choice
              label={messages.leaderDevice}
              value={chosen ?? ''}
              options={devices}
              onChoose={(id) => (picked.value = id)}
            />
            <p class="small quiet">{messages.leaderTracker}</p>
          </>
        )}
      </Ask>
      {isUnbound ? (
        <>
          <Ask
            ask={`${messages.hideLeader(leader)}…`}
            title={messages.hideLeader(leader)}
            button={messages.hideLeader(leader)}
            run={() => client.setPalanquin({ userId, palanquin: false, tracker: null })}
            onDone={() => showToast(messages.isNoLeader(leader))}
          >
            <p>{messages.isNoLeader(leader)}</p>
          </Ask>
          <p class="small warn-text action-help">{messages.leaderUnbound(leader)}</p>
        </>
      ) : null}
    </>
  )
}

function Export({ person: { userId, display_name: name } }: Pick<ActionsProps, 'person'>) {
  const messages = words.value.people
  const save = async (format: 'json' | 'gpx') => {
    const answer = await client.download('exportUser', { userId, format })
    if (answer.ok) saveBlob(answer.data.blob, personFileName(name, userId, format))
    else warn(answer.error, sentenceOf)
  }
  return (
    <>
      <Button onClick={() => void save('json')}>{messages.exportJson}</Button>
      <Button onClick={() => void save('gpx')}>{messages.exportGpx}</Button>
    </>
  )
}

function Erase({ person: { userId, display_name: name, phone, named_in: texts }, onErased }: ActionsProps) {
  const messages = words.value.people
  return (
    <Ask
      ask={messages.erase}
      kind="danger"
      title={messages.eraseTitle}
      button={messages.eraseButton}
      danger
      typed={[name ?? userId, userId]}
      run={() => client.eraseUser({ userId })}
      onDone={({ remaining }) => {
        showToast(remaining.length === 0 ? messages.erased : messages.erasedRest, { forMs: 20_000 })
        onErased()
      }}
    >
      <p class="strong">{name ?? messages.unnamed}</p>
      {/* Two people may have the same name. */}
      <p class="small quiet">{phone === null ? userId : `${userId} · ${phone}`}</p>
      <p>{messages.eraseText}</p>
      {texts.length > 0 ? (
        <>
          <p class="strong">{messages.eraseNamed}</p>
          <ul>
            {texts.map(({ text, at }) => (
              <li key={at + text}>{text}</li>
            ))}
          </ul>
        </>
      ) : null}
    </Ask>
  )
}
