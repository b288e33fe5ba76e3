/** Tokens and access, faults, the audit log, and one-time setup. */
import type { Data } from '#shared/client/index.ts'
import { figure } from '#shared/locales/units.ts'
import { Button } from '../../../design/button.tsx'
import { showToast } from '../../../design/toast.tsx'
import { ago, date } from '../../clock.ts'
import { Ask, BusyButton, ROLES, act, assignRole, useSave } from '../../parts/actions.tsx'
import { Choice, Field } from '../../parts/fields.tsx'
import { PagedList } from '../../parts/paged-list.tsx'
import { Await, PanelFrom } from '../../parts/panel.tsx'
import { PilgrimLink } from '../../parts/pilgrim-link.tsx'
import { type Resource, useResource } from '../../resource.ts'
import { viewsOf } from '../../router.ts'
import { OWNER, VOLUNTEER, client, level, role } from '../../session.ts'
import { reachesNobody } from '../../sos-reach.ts'
import { nameOf, ownName, pair, words } from '../../words.ts'
import { BackupAge, PartList, isBackupOld } from '../now/now.tsx'
import { AuditLog } from './audit-log.tsx'
import { useSignal } from '@preact/signals'

const [TOKENS_MS, CONDITION_MS] = [60_000, 20_000]
const SAID_MS = 8_000

type Role = (typeof ROLES)[number]

export const System = () => (level.value >= OWNER ? <OwnersSystem /> : <Parts tokens={null} />)

/** The names of the tokens are read once, for their list and for the filters of the audit log. */
function OwnersSystem() {
  const tokens = useResource(client.listTokens, TOKENS_MS, 'tokens')
  return <Parts tokens={tokens} />
}

function Parts({ tokens }: { readonly tokens: Resource<Data<'listTokens'>> | null }) {
  const condition = useResource(client.readCondition, CONDITION_MS, 'condition')
  return (
    <div class="view system">
      <div class="system-column">
        <Alerting condition={condition} />
        <PanelFrom title={words.value.system.parts} kind="all-parts" from={condition}>
          {({ parts }) => <PartList parts={parts} />}
        </PanelFrom>
        <DeadLetters />
        <Roles />
      </div>
      <div class="system-column">
        <Ledger condition={condition} />
        {tokens === null ? null : <Tokens list={tokens} />}
        <RichMenu />
      </div>
      {tokens === null ? null : <AuditLog tokens={tokens} />}
    </div>
  )
}

type Condition = Data<'readCondition'>

const SENT_EVERY_MS = 60_000

function Alerting({ condition }: { readonly condition: Resource<Condition> }) {
  const messages = words.value.alerting
  return (
    <PanelFrom title={messages.title} kind="alerting" from={condition}>
      {(known) => (
        <>
          <Recipient alerting={known.alerting} />
          <SosReach alerting={known.alerting} />
          <LastSent />
          <Backup condition={known} />
        </>
      )}
    </PanelFrom>
  )
}

function Recipient({ alerting: { channel, line } }: Pick<Condition, 'alerting'>) {
  const messages = words.value.alerting
  if (channel !== null) return <p>{messages.toLine}</p>
  return <p class="notice warning">{line ? messages.noRecipient : messages.noLine}</p>
}

/** Who is alerted by an SOS. Renders nothing while unknown. */
function SosReach({ alerting }: Pick<Condition, 'alerting'>) {
  const messages = words.value.alerting
  const { sos } = alerting
  if (sos === null) return null
  if (!reachesNobody(alerting)) return <p>{messages.sos(sos.line, sos.web_push)}</p>
  return (
    <p class="notice warning">
      {messages.sosNobody} {messages.sosTodo}
    </p>
  )
}

function LastSent() {
  const messages = words.value.alerting
  const sent = useResource(client.listMessages, SENT_EVERY_MS, 'alerts-sent', { cause: 'alert', limit: 1 })
  return (
    <Await from={sent}>
      {({ items: [latest] }) =>
        latest === undefined ? (
          <p>{messages.noneSent}</p>
        ) : (
          <div>
            <p>
              {latest.failed > 0 ? messages.lastFailed : messages.last[latest.state]}{' '}
              {date(latest.created_at)}
            </p>
            <blockquote class="small alert-text">{latest.text}</blockquote>
          </div>
        )
      }
    </Await>
  )
}

function Backup({ condition }: { readonly condition: Condition }) {
  const messages = words.value.alerting
  const { backups } = condition
  return (
    <div>
      <p>
        <BackupAge condition={condition} />
      </p>
      {backups === null ? null : (
        <p class="small">
          {backups.check_failed
            ? messages.unrestorable
            : pair(
                messages.restored,
                backups.checked_at === null ? words.value.common.never : ago(backups.checked_at),
              )}
        </p>
      )}
      {isBackupOld(condition) ? (
        <p class="small">
          <code>bun run backup --to backups/</code>
        </p>
      ) : null}
    </div>
  )
}

const EVERY_MS = 20_000
const COUNTERS = [
  'received',
  'stored',
  'pending',
  'journaled',
  'duplicate',
  'dead_letter',
  'erased',
  'in_flight',
  'lost',
] as const

function Ledger({ condition }: { readonly condition: Resource<Data<'readCondition'>> }) {
  const messages = words.value.system
  return (
    <PanelFrom title={messages.ledger} kind="ledger" from={condition} actions={<FlushNow />}>
      {({ ledger, kv_memory }) => (
        <>
          <table>
            <tbody>
              {ledger === null ? (
                <tr>
                  <td class="quiet">{words.value.common.unknown}</td>
                </tr>
              ) : (
                COUNTERS.filter((name) => ledger[name] > 0 || name === 'stored').map((name) => (
                  <tr key={name} class={name === 'lost' && ledger.lost > 0 ? 'problem' : undefined}>
                    <th scope="row">{messages.ledgerNames[name]}</th>
                    <td class="number">{figure(ledger[name])}</td>
                  </tr>
                ))
              )}
              {Object.entries(ledger?.rejected ?? {}).map(([reason, points]) => (
                <tr key={reason}>
                  <th scope="row">{pair(messages.ledgerNames.rejected, nameOf(messages.reasons, reason))}</th>
                  <td class="number">{figure(points)}</td>
                </tr>
              ))}
            </tbody>
          </table>
          <p class="row small">
            {kv_memory === null || kv_memory === 0 ? null : (
              <span>{pair(words.value.now.memory, percent(kv_memory))}</span>
            )}
          </p>
        </>
      )}
    </PanelFrom>
  )
}

const percent = (fraction: number): string => `${figure(fraction * 100)} %`

function storedText(stored: number, letters: number): string {
  const messages = words.value.system.ledgerNames
  return [
    pair(messages.stored, figure(stored)),
    ...(letters === 0 ? [] : [pair(messages.dead_letter, letters)]),
  ].join(words.value.common.comma)
}

function FlushNow() {
  const messages = words.value.now
  const flush = () =>
    act(client.forceFlush({}, { timeoutMs: 40_000 }), ({ finished, stored, dead_letters }) =>
      finished ? storedText(stored, dead_letters) : messages.flushing,
    )
  return <BusyButton run={flush}>{messages.flushNow}</BusyButton>
}

type Letter = Data<'listDeadLetters'>['items'][number]

const QUERY = { limit: 20 }

function DeadLetters() {
  const messages = words.value.system
  return (
    <PagedList
      title={messages.letters}
      kind="dead-letters"
      query={QUERY}
      read={client.listDeadLetters}
      everyMs={EVERY_MS}
    >
      {({ items }) => (
        <>
          <p class="small quiet">{items.length === 0 ? words.value.common.none : messages.lettersHelp}</p>
          <ul class="rows">
            {items.map((letter) => (
              <LetterRow key={letter.id} letter={letter} />
            ))}
          </ul>
        </>
      )}
    </PagedList>
  )
}

function LetterRow({ letter }: { readonly letter: Letter }) {
  const messages = words.value.system
  const open = useSignal(false)
  const requeue = () =>
    act(client.requeueDeadLetter({ id: letter.id }), ({ outcome }) => messages.outcomes[outcome])
  return (
    <li class="letter">
      <div class="grow">
        <p>
          <strong>#{letter.id}</strong> {letter.reason}
        </p>
        <p class="small quiet">
          <PilgrimLink userId={letter.userId} name={letter.userId} /> · {date(letter.refused_at)} ·{' '}
          {messages.refusals(letter.refusals)}
        </p>
        {open.value ? (
          <pre class="small">
            {letter.field} {letter.value}
          </pre>
        ) : null}
      </div>
      <div class="row-actions">
        <Button kind="plain" aria-expanded={open.value} onClick={() => (open.value = !open.value)}>
          {messages.look}
        </Button>
        {letter.requeued ? (
          messages.outcomes.replayed
        ) : (
          <Button onClick={() => void requeue()}>{messages.requeue}</Button>
        )}
        {level.value >= OWNER ? <Drop letter={letter} /> : null}
      </div>
    </li>
  )
}

function Drop({ letter }: { readonly letter: Letter }) {
  const messages = words.value.system
  return (
    <Ask
      ask={messages.drop}
      kind="danger"
      title={messages.dropTitle}
      button={messages.drop}
      danger
      typed={[`#${letter.id}`]}
      run={() => client.dropDeadLetter({ id: letter.id })}
      onDone={() => showToast(messages.dropped, { forMs: 6_000 })}
    >
      <p>{messages.dropText}</p>
    </Ask>
  )
}

function Tokens({ list }: { readonly list: Resource<Data<'listTokens'>> }) {
  const messages = words.value.system
  return (
    <PanelFrom title={messages.tokens} kind="tokens" from={list}>
      {({ items }) => (
        <>
          <p class="small quiet">{messages.tokensFrom}</p>
          <p class="small quiet">
            {pair(
              words.value.roles.volunteer,
              viewsOf(VOLUNTEER)
                .map((view) => words.value.nav[view])
                .join(words.value.common.comma),
            )}
          </p>
          <MakeToken />
          <ul class="rows">
            {items.map(({ name, role: tier, fingerprint, last_used, made_at }) => (
              <li key={fingerprint} class={name === role.value?.name ? 'mine' : undefined}>
                <span class="badge">{words.value.roles[tier]}</span>
                <strong class="grow">{name}</strong>
                <span class="small quiet">{usedText(items, last_used)}</span>
                {made_at === null ? (
                  <span class="small quiet">{messages.fromEnvironment}</span>
                ) : (
                  <Ask
                    ask={messages.revokeToken}
                    kind="plain"
                    title={messages.revokeTitle(name)}
                    button={words.value.people.revoke}
                    danger
                    run={() => client.revokeToken({ fingerprint })}
                    onDone={() => showToast(messages.revoked, { forMs: SAID_MS })}
                  >
                    <p>{messages.revokeText}</p>
                  </Ask>
                )}
              </li>
            ))}
          </ul>
        </>
      )}
    </PanelFrom>
  )
}

/** The page's own token is in use: if no token was used, the times are unknown. */
const usedText = (tokens: Data<'listTokens'>['items'], at: string | null): string => {
  if (at !== null) return ago(at)
  const isKnown = tokens.some(({ last_used }) => last_used !== null)
  return isKnown ? words.value.system.neverUsed : words.value.common.unknown
}

/** Shows the token once, until another one is created or the view is left. */
function MakeToken() {
  const messages = words.value.system
  const name = useSignal('')
  const tier = useSignal<Role>('volunteer')
  const made = useSignal<Data<'makeToken'> | null>(null)
  const make = async (typed: string): Promise<boolean> => {
    const answer = await act(client.makeToken({ name: typed, role: tier.value }))
    if (answer !== null) made.value = answer
    return answer !== null
  }
  const { busy, submit } = useSave(name, make, () => (name.value = ''))
  return (
    <>
      <form
        class="event-form"
        onSubmit={(submitted) => {
          submitted.preventDefault()
          void submit()
        }}
      >
        <Field
          label={messages.tokenName}
          required
          maxLength={40}
          autocomplete="off"
          value={name.value}
          onType={(text) => (name.value = text)}
        />
        <Choice
          label={messages.tokenRole}
          value={tier.value}
          options={ROLES.map((role) => [role, words.value.roles[role]])}
          onChoose={(role) => (tier.value = role)}
        />
        <div class="row">
          <Button type="submit" busy={busy}>
            {messages.makeToken}
          </Button>
        </div>
      </form>
      {made.value === null ? null : (
        <output class="notice">
          {messages.tokenMade(made.value.name)} <code class="token">{made.value.token}</code>
        </output>
      )}
    </>
  )
}

const ROLES_EVERY_MS = 30_000
const ROLES_QUERY = { limit: 20 }

function Roles() {
  const messages = words.value.system
  return (
    <PagedList
      title={messages.roles}
      kind="roles"
      query={ROLES_QUERY}
      read={client.listRoles}
      everyMs={ROLES_EVERY_MS}
    >
      {({ items }) => (
        <>
          {items.length === 0 ? null : (
            <ul class="rows">
              {items.map(({ userId, display_name, role, assigned_by, assigned_at }) => (
                <li key={userId}>
                  <span class="badge">{words.value.roles[role]}</span>
                  <div class="grow">
                    <PilgrimLink userId={userId} name={display_name} />
                    <p class="small quiet">
                      {words.value.common.by} {assigned_by}, {date(assigned_at)}
                    </p>
                  </div>
                  <Button kind="plain" onClick={() => void assignRole(userId, null, role)}>
                    {words.value.schedule.remove}
                  </Button>
                </li>
              ))}
            </ul>
          )}
          <p class="small quiet">{messages.roleByName}</p>
        </>
      )}
    </PagedList>
  )
}

const MENU_EVERY_MS = 60_000

function RichMenu() {
  const status = useResource(client.readMenus, MENU_EVERY_MS, 'menus')
  const messages = words.value.system
  return (
    <PanelFrom title={messages.menu} kind="rich-menu" from={status}>
      {({ configured, menus }) => (
        <>
          {configured ? null : <p class="quiet">{words.value.now.notConfigured}</p>}
          <ul class="rows">
            {menus.map(({ language, menu_id, current, deployed_at }) => (
              <li key={language}>
                <strong lang={language}>{ownName(language)}</strong>
                <span class={`badge ${menu_id === null ? '' : current ? 'good' : 'warning'}`}>
                  {menu_id === null ? messages.menuNone : current ? messages.menuCurrent : messages.menuOld}
                </span>
                <span class="grow small quiet">{deployed_at === null ? null : date(deployed_at)}</span>
              </li>
            ))}
          </ul>
          <Deploy />
        </>
      )}
    </PanelFrom>
  )
}

function Deploy() {
  const messages = words.value.system
  const deploy = () =>
    act(client.deployMenus({}, { timeoutMs: 60_000 }), ({ skipped, menus }) =>
      skipped
        ? words.value.now.notConfigured
        : pair(messages.menu, messages.menusTold(menus.filter(({ changed }) => changed).length)),
    )
  return (
    <p>
      <BusyButton run={deploy}>{messages.deploy}</BusyButton>
    </p>
  )
}
