import { useSignal } from '@preact/signals'
import { Button, Segments } from '../../../design/button.tsx'
import { date } from '../../clock.ts'
import { act } from '../../parts/act.ts'
import { Panel } from '../../parts/panel.tsx'
import { show } from '../../router.ts'
import { client, level, MANAGER } from '../../session.ts'
import { fill, words } from '../../words.ts'
import { type Item, screenshotPath, STATUSES, triage } from './items.ts'

export const OneItem = ({ item }: { readonly item: Item }) => {
  const said = words.value.feedback
  return (
    <Panel title={`#${item.id} · ${item.category}`} kind="one-item">
      {level.value >= MANAGER ? (
        <Segments
          label={said.title}
          options={STATUSES.map((value) => ({ value, text: said.columns[value] }))}
          value={item.status}
          onChoose={(status) => void triage(item, status)}
        />
      ) : (
        <span class="badge">{said.columns[item.status]}</span>
      )}
      <div class="beside">
        <div class="stack">
          <p class="feedback-full">{item.description}</p>
          <Facts item={item} />
          {level.value >= MANAGER ? <Note item={item} /> : <p class="quiet">{item.admin_note}</p>}
        </div>
        <Screenshot item={item} />
      </div>
    </Panel>
  )
}

const Facts = ({ item }: { readonly item: Item }) => {
  const said = words.value.feedback
  const facts: readonly (readonly [string, string | null])[] = [
    [said.contact, item.contact],
    [said.device, item.device_info],
    [said.browser, item.user_agent],
  ]
  return (
    <dl class="about small">
      <div>
        <dt>{said.from}</dt>
        <dd>
          <From item={item} /> · {date(item.created_at)}
          {item.resolved_at === null ? null : ` · ${fill(said.resolved, { time: date(item.resolved_at) })}`}
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
  return (
    <button type="button" class="name-button" onClick={() => show('people', { person: userId })}>
      <strong>{display_name ?? userId}</strong>
    </button>
  )
}

function Note({ item }: { readonly item: Item }) {
  const said = words.value.feedback
  const typed = useSignal<string | null>(null)
  const note = typed.value ?? item.admin_note ?? ''
  const save = async () => {
    const saved = await act(client.updateFeedback({ id: item.id, admin_note: note }), () => said.noteSaved)
    if (saved !== null) typed.value = null
  }
  return (
    <div class="field">
      <label for="feedback-note">{said.note}</label>
      <textarea
        id="feedback-note"
        maxLength={2_000}
        value={note}
        onInput={(event) => (typed.value = event.currentTarget.value)}
      />
      {typed.value === null ? null : (
        <p>
          <Button kind="primary" onClick={() => void save()}>
            {words.value.common.save}
          </Button>
        </p>
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
  return (
    <p class="screenshot quiet small">
      {item.screenshot_url === null ? said.noScreenshot : item.screenshot_url}
    </p>
  )
}
