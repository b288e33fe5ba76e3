/**
 * The pilgrim's page: links to the other views, name and phone, the achievement card, and display settings.
 */
import { words } from '../words.ts'
import { useComputed, useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useCallback, useEffect } from 'preact/hooks'
import type { ClientError, Failure } from '#shared/client/index.ts'
import { isShownOnCard } from '#shared/core/rules/card-name.ts'
import { CARD_CHECKINS } from '#shared/core/rules/levels.ts'
import { Button } from '../../design/button.tsx'
import { saveFile } from '../own-data/save-file.ts'
import { show } from '../route.ts'
import { draftOf, keepDraft } from '../session/drafts.ts'
import { change as changeState, person } from '../session/current-state.ts'
import { tellService, totalCheckIns } from '../outbox.ts'
import { client, config, hasEnded, noteError, profile } from '../session/service.ts'
import { valueOfWalk } from '../session/stored-signals.ts'
import { Install } from './install.tsx'
import { Way } from './feedback-tab.tsx'
import { Again, NotDone, Notice } from './notice.tsx'
import { View } from './view.tsx'
import { canHear, device, hear, hearError, stopHearing, switching } from '../notifications/web-push.ts'
import { LanguageSwitch, LettersSwitch, ThemeSwitch } from '../../frame/switches.tsx'
import { pageWords } from '../../frame/language.ts'
import { toldText, useChange } from './use-service.tsx'
import { Emblem } from '../../design/emblem.tsx'

/** Links come first, visible even with the largest letters. Irreversible actions have a view of their own. */
export const Me = () => (
  <View title={words.value.tabs.me}>
    <ul class="rows card">
      <Way to="display" title={words.value.me.display} />
      <Way to="code" title={words.value.recovery.title} />
      <Way to="trackers" title={words.value.trackers.title} more={words.value.record.trackersMore} />
      <Hear />
      <Way to="data" title={words.value.data.title} />
    </ul>
    <Profile />
    <Card />
    <Install />
  </View>
)

export const Display = () => (
  <View title={words.value.me.display} back>
    <section class="card stack-2">
      <h2>{pageWords.value.letters}</h2>
      <LettersSwitch />
      <h2>{pageWords.value.language}</h2>
      <LanguageSwitch />
      <h2>{pageWords.value.theme}</h2>
      <ThemeSwitch />
    </section>
  </View>
)

/** Switches the organisers' messages on this phone on and off. */
function Hear() {
  const messages = words.value.hear
  if ((config.value?.push_key ?? null) === null || !canHear()) return null
  const error = hearError.value
  const on = device.value !== null
  return (
    <li class="wraps">
      <button
        type="button"
        class="leads"
        aria-busy={switching.value}
        onClick={() => switching.value || void (on ? stopHearing() : hear())}
      >
        <strong class="grow">{on ? messages.stop : messages.start}</strong>
      </button>
      {typeof error === 'string' ? (
        <Notice kind="warning">{messages[error]}</Notice>
      ) : (
        <NotDone error={error} />
      )}
    </li>
  )
}

const PHONE = /^[0-9+\-() ]*$/

/** Name and phone. A change is saved by the button, or when its field loses focus. */
function Profile() {
  const { me, welcome } = words.value
  const name = draftOf('name') ?? person.value?.name ?? ''
  const phone = draftOf('phone') ?? ''
  const nameMissing = useSignal(false)
  const phoneWrong = useSignal(false)
  const removed = useSignal(false)
  const change = useChange()
  const known = profile.value?.phone ?? null
  const saveName = async () => {
    const given = name.trim()
    nameMissing.value = given === ''
    if (nameMissing.value || person.value === null || given === person.value.name) return
    removed.value = false
    const { userId } = person.value
    if (!(await change.keep(() => tellService({ display_name: given })))) return
    changeState('renamed', { userId, name: given })
    if (draftOf('name') === name) keepDraft({ name: null })
  }
  const savePhone = async (given: string | null) => {
    const digits = (given ?? '000000').replaceAll(/\D/g, '').length
    phoneWrong.value = given !== '' && given !== null && (!PHONE.test(given) || digits < 6 || digits > 15)
    if (phoneWrong.value || given === '') return
    removed.value = given === null
    // A number that could not be saved stays in the field.
    const saved = await change.run(() => client.setPhone({ phone: given }))
    if (saved !== null && draftOf('phone') === (given ?? undefined)) keepDraft({ phone: null })
  }
  const nameChanged = name.trim() !== (person.value?.name ?? '')
  const isUnsaved = nameChanged || phone !== ''
  const fault = nameMissing.value
    ? welcome.nameMissing
    : phoneWrong.value
      ? me.phoneInvalid
      : isShownOnCard(name)
        ? null
        : welcome.nameNotOnCard
  return (
    <form
      class="card stack-2 profile"
      onSubmit={(event) => {
        event.preventDefault()
        if (!change.busy.peek()) void saveName().then(() => savePhone(phone))
      }}
    >
      <div class="row">
        <label for="own-name">{me.name}</label>
        <input
          id="own-name"
          type="text"
          maxLength={60}
          aria-invalid={nameMissing.value}
          aria-describedby="profile-said"
          value={name}
          onInput={({ currentTarget }) => keepDraft({ name: currentTarget.value })}
          onBlur={() => void saveName()}
        />
      </div>
      <div class="row">
        <label for="phone">{me.phone}</label>
        <input
          id="phone"
          type="tel"
          autocomplete="tel"
          placeholder={known ?? ''}
          aria-invalid={phoneWrong.value}
          aria-describedby="profile-said"
          value={phone}
          onInput={({ currentTarget }) => keepDraft({ phone: currentTarget.value })}
          onBlur={() => void savePhone(phone)}
        />
        {known === null || phone !== '' ? null : (
          <Button kind="plain" onClick={() => void savePhone(null)}>
            {me.phoneRemove}
          </Button>
        )}
      </div>
      {/* Always rendered, so that nothing below moves when a field loses focus. */}
      <p id="profile-said" class={fault === null ? 'quiet' : 'wrong'} aria-live="polite">
        {fault ??
          (isUnsaved
            ? me.unsaved
            : change.done.value
              ? removed.value
                ? me.phoneRemoved
                : toldText()
              : me.phoneHint)}
      </p>
      {change.note(null)}
      {/* Leaving a field saves, too; the button stays until then, so that nothing moves under a finger. */}
      <Button type="submit" busy={change.busy.value} hidden={!isUnsaved}>
        {me.save}
      </Button>
    </form>
  )
}

const Tick = ({ done, children }: { readonly done: boolean; readonly children: ComponentChildren }) => (
  <li>
    <span aria-hidden="true" class={done ? 'tick done' : 'tick'}>
      {done ? '✓' : ''}
    </span>
    {children}
    <span class="visually-hidden"> {words.value.me[done ? 'done' : 'missing']}</span>
  </li>
)

/**
 * The achievement card: its requirements, and the picture once it is complete and requested. After the event
 * the first tab has it.
 */
function Card() {
  const { me } = words.value
  if (profile.value === null || hasEnded()) return null
  const { achievement_card: card, level, survey_completed: survey, phone } = profile.value
  const checkIns = Math.max(0, Math.min(CARD_CHECKINS, totalCheckIns.value))
  const isReady = checkIns === CARD_CHECKINS && survey === 1 && phone !== null
  return (
    <section class="card stack-2">
      <div class="row achievement" data-complete={card === 'unlocked'}>
        <Emblem level={level ?? 1} />
        <div class="grow">
          <h2>{me.cardTitle}</h2>
          <ul class="ticks">
            <Tick done={checkIns === CARD_CHECKINS}>{me.ofCheckIns(checkIns, CARD_CHECKINS)}</Tick>
            <Tick done={survey === 1}>{me.survey}</Tick>
            <Tick done={phone !== null}>{me.phone}</Tick>
          </ul>
        </div>
      </div>
      {card === 'unlocked' ? <CardPicture /> : isReady ? <p>{me.cardSoon}</p> : null}
    </section>
  )
}

interface OwnCard {
  readonly ok: true
  readonly picture: Blob
  /** Pixels. */
  readonly width: number
  readonly height: number
}

/**
 * Requests the current card and reads it. Its address contains the id, which gives access to the walk, so a
 * copy is shown.
 */
async function readCard(): Promise<OwnCard | Failure> {
  const drawn = await client.drawCard({})
  const file = `${person.value?.userId ?? ''}.png`
  const answer = drawn.ok ? await client.download('readCard', { file }, { accept: 'image/png' }) : drawn
  if (drawn.ok && answer.ok) {
    const { width, height } = drawn.data
    return { ok: true, picture: answer.data.blob, width, height }
  }
  const failure = answer as Failure
  noteError(failure.error)
  return failure
}

/** The last card that was read, for use offline. */
const lastCard = valueOfWalk<{ readonly of: string; readonly card: OwnCard } | null>(null)

/** Reads the card on request; at once if none is stored or its name or check-ins have changed. */
function useCard(isAtOnce: boolean) {
  const read = useSignal<OwnCard | Failure | null>(isAtOnce ? (lastCard.peek()?.card ?? null) : null)
  const of = `${person.value?.name ?? ''} ${totalCheckIns.value}`
  const busy = useSignal(false)
  const card = read.value?.ok === true ? read.value : null
  const address = useComputed(() =>
    read.value?.ok === true ? URL.createObjectURL(read.value.picture) : null,
  ).value
  useEffect(() => () => void (address !== null && URL.revokeObjectURL(address)), [address])
  const ask = useCallback(async () => {
    busy.value = true
    const answer = await readCard()
    busy.value = false
    if (answer.ok) lastCard.value = { of, card: answer }
    read.value = answer.ok ? answer : (read.peek() ?? answer)
  }, [busy, read, of])
  const isNeeded = isAtOnce && lastCard.peek()?.of !== of
  useEffect(() => void (isNeeded && ask()), [isNeeded, ask])
  return { card, address, error: read.value?.ok === false ? read.value.error : null, busy, ask }
}

/** The card, once it was requested. */
function CardPicture() {
  const { card, address, error, busy, ask } = useCard(false)
  if (card !== null && address !== null)
    return (
      <>
        <CardImage card={card} address={address} />
        <SaveCard card={card} />
      </>
    )
  return (
    <>
      <NotDone error={error} />
      <Button busy={busy.value} onClick={() => void ask()}>
        {words.value.me.seeCard}
      </Button>
    </>
  )
}

const CardImage = ({
  card: { width, height },
  address,
}: {
  readonly card: OwnCard
  readonly address: string
}) => <img class="own-card" src={address} alt={words.value.me.cardAlt} width={width} height={height} />

const SaveCard = ({ card }: { readonly card: OwnCard }) => (
  <Button onClick={() => void saveFile(card.picture, CARD_FILE)}>{words.value.me.saveCard}</Button>
)

const CARD_FILE = 'card.png'

/** The service does not know the pilgrim yet, because name and consent are still queued. */
const isAwaited = (error: ClientError | null): boolean =>
  error?.code === 'not-found' && person.value?.known === false

/** After the event: the card, to save and to share. */
export function KeptCard() {
  const { card, address, error, busy, ask } = useCard(true)
  if (card === null || address === null)
    return busy.value || isAwaited(error) ? null : (
      <NotDone error={error} action={<Again ask={ask}>{words.value.retry}</Again>} />
    )
  const share = async () => {
    const files = [new File([card.picture], CARD_FILE, { type: card.picture.type })]
    if (!navigator.canShare?.({ files })) return show('share')
    // The pilgrim may cancel the share sheet.
    await navigator.share({ files }).catch(() => undefined)
  }
  return (
    <section class="card stack-2">
      <CardImage card={card} address={address} />
      <div class="row ends">
        <SaveCard card={card} />
        <Button kind="primary" onClick={() => void share()}>
          {words.value.me.shareCard}
        </Button>
      </div>
    </section>
  )
}
