/** What belongs to the pilgrim: name, phone, links, apps, how the app looks, and the ways to the rest. */
import { pageWords } from '../../frame/page-words.ts'
import { words } from '../words.ts'
import { useComputed, useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { Failure } from '#shared/client/index.ts'
import { CARD_CHECKINS } from '#shared/rules/achievement.ts'
import { Button, Segments } from '../../design/button.tsx'
import { chooseLetters, LETTERS, letters } from '../../frame/theme.ts'
import { LanguageSwitch, ThemeSwitch } from '../../frame/switches.tsx'
import { surveyWaits } from '../feedback/survey.ts'
import { type OwnCard, readCard } from '../own-data/card.ts'
import { saveFile } from '../own-data/save-file.ts'
import { notDoneSentence } from '../problem.ts'
import { draftOf, keepDraft } from '../session/drafts.ts'
import { keep } from '../session/kept.ts'
import { introduce } from '../session/introduce.ts'
import { person } from '../session/person.ts'
import { totalCheckIns } from '../session/queue.ts'
import { client, config, profile, usesLine } from '../session/service.ts'
import { Install } from './install.tsx'
import { Way } from './say.tsx'
import { useChange } from './use-change.tsx'
import { Notice, View } from './view.tsx'
import {
  canHear,
  device,
  hear,
  hearError,
  needsInstall,
  stopHearing,
  switching,
} from '../notifications/web-push.ts'
import { show } from '../route.ts'

function Hear() {
  const said = words.value.hear
  if ((config.value?.push_key ?? null) === null || (!canHear() && !needsInstall())) return null
  const error = hearError.value
  const on = device.value !== null
  return (
    <section class="card stack-2">
      <h2>{said.title}</h2>
      <p aria-live="polite">{on ? said.isOn : said.why}</p>
      {error === null ? null : (
        <Notice kind="warning">{typeof error === 'string' ? said[error] : notDoneSentence(error)}</Notice>
      )}
      {needsInstall() ? (
        <>
          <p>{said.install}</p>
          <Button onClick={() => show('code')}>{words.value.recovery.remindButton}</Button>
        </>
      ) : (
        <Button busy={switching.value} onClick={() => void (on ? stopHearing() : hear())}>
          {on ? said.stop : said.start}
        </Button>
      )}
    </section>
  )
}

/** In the order in which pilgrims look for things; what can not be undone is last, in a view of its own. */
export const Me = () => (
  <View title={words.value.me.title}>
    <Name />
    <Phone />
    <Card />
    <ul class="rows card">
      <Way to="share" title={words.value.share.title} />
      <Way to="trackers" title={words.value.trackers.title} />
    </ul>
    <Hear />
    <section id="display" class="card stack-2">
      <h2>{words.value.me.display}</h2>
      <p>{words.value.me.letters}</p>
      <Segments
        label={words.value.me.letters}
        options={LETTERS.map((value) => ({ value, text: words.value.me.letterSizes[value] }))}
        value={letters.value}
        onChoose={(size) => {
          chooseLetters(size)
          // The page above has another height now.
          requestAnimationFrame(() => document.getElementById('display')?.scrollIntoView())
        }}
      />
      <LanguageSwitch />
      <p>{pageWords.value.theme}</p>
      <ThemeSwitch />
    </section>
    <ul class="rows card">
      <Way
        to="code"
        title={words.value.me.code}
        more={usesLine.value ? undefined : words.value.recovery.what}
      />
      <Way to="survey" title={words.value.say.survey} />
      <Way to="feedback" title={words.value.say.feedback} />
    </ul>
    <Install />
    <ul class="rows card">
      <Way to="data" title={words.value.me.data} />
    </ul>
  </View>
)

function Name() {
  const name = draftOf('name') ?? person.value?.name ?? ''
  const missing = useSignal(false)
  const change = useChange()
  const save = async () => {
    const given = name.trim()
    missing.value = given === ''
    if (missing.value || person.value === null) return
    // A name that the service does not have yet goes with the introduction.
    const isNew = !person.value.known
    if (isNew || (await change.run(() => client.syncProfile({ display_name: given }))) !== null) {
      keep(person, { ...person.value, name: given })
      keepDraft({ name: null })
    }
    if (isNew) await introduce(client)
  }
  return (
    <section class="card stack-2">
      <div class="field">
        <label for="own-name">{words.value.me.name}</label>
        <input
          id="own-name"
          type="text"
          maxLength={60}
          aria-invalid={missing.value}
          aria-describedby={missing.value ? 'own-name-missing' : undefined}
          value={name}
          onInput={({ currentTarget }) => keepDraft({ name: currentTarget.value })}
        />
        {missing.value ? (
          <p id="own-name-missing" class="wrong" role="alert">
            {words.value.welcome.nameMissing}
          </p>
        ) : null}
      </div>
      <Unsaved shown={name.trim() !== (person.value?.name ?? '')} />
      {change.said(words.value.me.saved)}
      <Button busy={change.busy.value} onClick={() => void save()}>
        {words.value.me.save}
      </Button>
    </section>
  )
}

const Unsaved = ({ shown }: { readonly shown: boolean }) => (
  <p aria-live="polite" class="quiet" hidden={!shown}>
    {shown ? words.value.me.unsaved : ''}
  </p>
)

const PHONE = /^[0-9+\-() ]*$/

/** The card, once it was asked for. */
function CardPicture() {
  const read = useSignal<OwnCard | Failure | null>(null)
  const busy = useSignal(false)
  const card = read.value?.ok === true ? read.value : null
  const address = useComputed(() =>
    read.value?.ok === true ? URL.createObjectURL(read.value.picture) : null,
  ).value
  useEffect(() => () => void (address !== null && URL.revokeObjectURL(address)), [address])
  const ask = async () => {
    busy.value = true
    read.value = await readCard()
    busy.value = false
  }
  if (card !== null && address !== null)
    return (
      <>
        <img
          class="own-card"
          src={address}
          alt={words.value.me.cardAlt}
          width={card.width}
          height={card.height}
        />
        <Button onClick={() => void saveFile(card.picture, 'card.png')}>{words.value.me.saveCard}</Button>
      </>
    )
  return (
    <>
      {read.value?.ok === false ? <Notice kind="warning">{notDoneSentence(read.value.error)}</Notice> : null}
      <Button busy={busy.value} onClick={() => void ask()}>
        {words.value.me.seeCard}
      </Button>
    </>
  )
}

/** What is still missing for the achievement card, and the card. */
function Card() {
  const { me, say } = words.value
  if (profile.value === null) return null
  const { achievement_card: card, survey_completed: survey, phone } = profile.value
  const checkIns = Math.max(0, CARD_CHECKINS - totalCheckIns.value)
  return (
    <section class="card stack-2">
      <h2>{me.cardTitle}</h2>
      {card === 'unlocked' ? (
        <>
          <p>{me.unlocked}</p>
          <CardPicture />
        </>
      ) : (
        <>
          <p>
            {checkIns > 0 || survey === 0 || phone === null
              ? me.locked(checkIns, survey === 0, phone === null)
              : me.cardSoon}
          </p>
          {surveyWaits.value ? <p>{pageWords.value.pair(say.survey, say.surveyWaits)}</p> : null}
        </>
      )}
    </section>
  )
}

function Phone() {
  const phone = draftOf('phone') ?? ''
  const wrong = useSignal(false)
  const change = useChange()
  const known = profile.value?.phone ?? null
  const save = (given: string | null) => {
    const digits = (given ?? '000000').replaceAll(/\D/g, '').length
    wrong.value = given !== null && (!PHONE.test(given) || digits < 6 || digits > 15)
    if (wrong.value) return
    // A number that was not saved stays, to be saved again.
    void change
      .run(() => client.setPhone({ phone: given }))
      .then((saved) => saved !== null && keepDraft({ phone: null }))
  }
  return (
    <section class="card stack-2">
      <div class="field">
        <label for="phone">{words.value.me.phone}</label>
        <input
          id="phone"
          type="tel"
          autocomplete="tel"
          placeholder={known ?? ''}
          aria-describedby="phone-hint"
          aria-invalid={wrong.value}
          value={phone}
          onInput={({ currentTarget }) => keepDraft({ phone: currentTarget.value })}
        />
        <p id="phone-hint" class={wrong.value ? 'wrong' : 'quiet'} role={wrong.value ? 'alert' : undefined}>
          {wrong.value ? words.value.me.phoneInvalid : words.value.me.phoneHint}
        </p>
      </div>
      <Unsaved shown={phone !== ''} />
      {change.said(known === null ? words.value.me.phoneRemoved : words.value.me.saved)}
      <div class="row">
        <Button busy={change.busy.value} onClick={() => save(phone)}>
          {words.value.me.save}
        </Button>
        {known === null ? null : (
          <Button kind="plain" onClick={() => save(null)}>
            {words.value.me.phoneRemove}
          </Button>
        )}
      </div>
    </section>
  )
}
