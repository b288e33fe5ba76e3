import type { ComponentChildren } from 'preact'
import { CARD_CHECKINS } from '#shared/rules/achievement.ts'
import { date, number } from '../../clock.ts'
import { consoleLanguage, fill, words } from '../../words.ts'
import { categoryText } from '../feedback/items.ts'
import { PersonLinks } from './person-links.tsx'
import type { Detail } from './detail.ts'

/** What the pilgrim, LINE and operators have said. */
export const PersonAbout = ({ person }: { readonly person: Detail }) => {
  const said = words.value.people
  return (
    <>
      <dl class="about">
        <Term name={said.sorts.userId}>{person.userId}</Term>
        <Term name={said.phone}>{person.phone ?? '–'}</Term>
        <Term name={said.reach}>{person.reachable ? said.reachable : said.unreachable}</Term>
        <Term name={said.devices}>{number(person.push_devices)}</Term>
        <Term name={said.columns.role}>
          {person.role === null ? said.noRole : words.value.roles[person.role]}
          {person.role_assigned_by === null
            ? null
            : ` · ${fill(words.value.common.by, { name: person.role_assigned_by })}`}
        </Term>
        <Term name={said.consent}>{consentText(person)}</Term>
        <Term name={said.survey}>{surveyText(person)}</Term>
        <Term name={said.card}>{cardText(person)}</Term>
        <Term name={said.photos}>{person.photo_count}</Term>
        <Term name={said.feedback}>
          {person.recent_feedback.length === 0
            ? '–'
            : person.recent_feedback.map(({ id, category }) => `#${id} ${categoryText(category)}`).join(', ')}
        </Term>
      </dl>
      <PersonLinks person={person} />
    </>
  )
}

const Term = ({ name, children }: { readonly name: string; readonly children: ComponentChildren }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
)

function consentText({
  consent_withdrawn,
  privacy_agreed,
  privacy_version,
  privacy_agreed_at,
}: Detail): string {
  const said = words.value.people
  if (consent_withdrawn) return said.withdrawnConsent
  if (!privacy_agreed) return said.notAgreed
  const at = privacy_agreed_at === null ? '' : ` · ${date(privacy_agreed_at)}`
  const agreed =
    privacy_version === null ? said.agreedUnversioned : fill(said.agreed, { version: privacy_version })
  return agreed + at
}

function surveyText({ survey }: Detail): string {
  const said = words.value.people
  if (survey === null) return said.noSurvey
  return `${fill(said.revision, { revision: survey.revision })} · ${date(survey.submitted_at)}`
}

/** Whether the achievement card is earned, else what is missing. */
function cardText({ achievement_card: card, checkins, survey_completed: surveyed, phone }: Detail): string {
  const said = words.value.people
  if (card === 'unlocked') return said.cardEarned
  const missing = [
    ...(checkins < CARD_CHECKINS ? [checkInsText(CARD_CHECKINS - checkins)] : []),
    ...(surveyed === 1 ? [] : [said.cardSurvey]),
    ...(phone === null ? [said.cardPhone] : []),
  ]
  return fill(said.cardMissing, { what: new Intl.ListFormat(consoleLanguage.value).format(missing) })
}

const checkInsText = (count: number): string =>
  fill(words.value.people.nextCheckins[count === 1 ? 'one' : 'other'], { count: number(count) })
