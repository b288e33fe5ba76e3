import { Choice } from '../../parts/fields.tsx'
import type { Detail } from './person-points.tsx'
import { Button } from '../../../design/button.tsx'
import { showToast } from '../../../design/toast.tsx'
import { act, warn, assignRole, ROLES, Ask } from '../../parts/actions.tsx'
import { personFileName, saveBlob } from '../../parts/download.ts'
import { sentenceOf } from '../../parts/panel.tsx'
import { client, level, OWNER, role } from '../../session.ts'
import { pair, words } from '../../words.ts'

const STATES = ['active', 'completed', 'withdrawn'] as const

interface Props {
  readonly person: Detail
  readonly onErased: () => void
}

export const PersonActions = ({ person, onErased }: Props) => (
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

/** A role is easily taken for more than it is. */
const RoleHelp = ({ person: { role: given, reachable } }: Pick<Props, 'person'>) => {
  const said = words.value.people
  return (
    <p class="small quiet action-help">
      {said.roleHelp}
      {given === null || reachable ? null : <strong class="warn-text"> {said.roleUnreached}</strong>}
    </p>
  )
}

/** What was refused does not stay chosen, or it would look done. */
const backUnless =
  (select: HTMLSelectElement, before: string) =>
  (done: unknown): void => {
    if (done === null) select.value = before
  }

function SetStatus({ person: { userId, participant_status } }: Pick<Props, 'person'>) {
  const said = words.value.people
  const set = (status: (typeof STATES)[number]) =>
    act(client.setUserStatus({ userId, status }), (data) =>
      pair(said.columns.state, said.status[data.participant_status]),
    )
  return (
    <Choice
      label={said.columns.state}
      value={participant_status}
      options={STATES.map((state) => [state, said.status[state]])}
      onChoose={(status, select) => void set(status).then(backUnless(select, participant_status))}
    />
  )
}

function SetRole({ person }: Pick<Props, 'person'>) {
  const said = words.value.people
  // Nobody gives a role above their own tier.
  const offered = ROLES.filter((_, i) => i < (role.value?.level ?? 0))
  const set = (chosen: (typeof offered)[number] | '') =>
    assignRole(person.userId, chosen === '' ? null : chosen, person.role)
  return (
    <Choice
      label={said.columns.role}
      value={person.role ?? ''}
      options={[['', said.noRole], ...offered.map((name) => [name, words.value.roles[name]] as const)]}
      onChoose={(chosen, select) => void set(chosen).then(backUnless(select, person.role ?? ''))}
    />
  )
}

/** Its place is public from then on. */
function SetPalanquin({ person: { userId, palanquin } }: Pick<Props, 'person'>) {
  const said = words.value.people
  const act = palanquin ? said.hidePalanquin : said.showPalanquin
  return (
    <Ask
      ask={`${said.palanquin}…`}
      pressed={palanquin}
      title={act}
      button={act}
      run={() => client.setPalanquin({ userId, palanquin: !palanquin })}
      onDone={(data) => showToast(data.palanquin ? said.isPalanquin : said.isNoPalanquin)}
    >
      <p>{palanquin ? said.isNoPalanquin : said.isPalanquin}</p>
    </Ask>
  )
}

function Export({ person: { userId, display_name: name } }: Pick<Props, 'person'>) {
  const said = words.value.people
  const save = async (format: 'json' | 'gpx') => {
    const answer = await client.download('exportUser', { userId, format })
    if (answer.ok) saveBlob(answer.data.blob, personFileName(name, userId, format))
    else warn(answer.error, sentenceOf)
  }
  return (
    <>
      <Button onClick={() => void save('json')}>{said.exportJson}</Button>
      <Button onClick={() => void save('gpx')}>{said.exportGpx}</Button>
    </>
  )
}

function Erase({ person: { userId, display_name: name, named_in: texts }, onErased }: Props) {
  const said = words.value.people
  return (
    <Ask
      ask={said.erase}
      kind="danger"
      title={said.eraseTitle}
      button={said.eraseButton}
      danger
      typed={userId}
      run={() => client.eraseUser({ userId })}
      onDone={({ remaining }) => {
        showToast(remaining.length === 0 ? said.erased : said.erasedRest, { forMs: 20_000 })
        onErased()
      }}
    >
      <p class="strong">{name ?? said.unnamed}</p>
      <p>{said.eraseText}</p>
      {texts.length > 0 ? (
        <>
          <p class="strong">{said.eraseNamed}</p>
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
