/** Trackers and links of a pilgrim, which an operator ends when a phone is lost. */
import { useSignal } from '@preact/signals'
import type { Answer } from '#shared/client/index.ts'
import { Button } from '../../../design/button.tsx'
import { showToast } from '../../../design/toast.tsx'
import { date } from '../../clock.ts'
import { Confirm } from '../../parts/confirm.tsx'
import { client } from '../../session.ts'
import { fill, words } from '../../words.ts'
import type { Detail } from './detail.ts'

export const PersonLinks = ({ person: { userId, trackers, shares } }: { readonly person: Detail }) => {
  const said = words.value.people
  return (
    <>
      <h3>{said.links}</h3>
      <ul class="rows">
        {trackers.map(({ id, label, created_at }) => (
          <li key={id}>
            <strong>{said.tracker}</strong>
            <span class="grow">
              {label} <span class="small quiet">{date(created_at)}</span>
            </span>
            <Revoke
              button={said.revoke}
              title={fill(said.revokeTracker, { name: label || said.tracker })}
              text={said.revokeTrackerText}
              run={() => client.revokeTrackerOfUser({ userId, id })}
            />
          </li>
        ))}
        {shares.map(({ made_by, created_at, expires_at }) => (
          <li key={`${made_by} ${created_at}`}>
            <strong>{said.shareLink}</strong>
            <span class="grow small quiet">
              {date(created_at)} · {fill(said.until, { time: date(expires_at) })}
            </span>
          </li>
        ))}
        {trackers.length + shares.length === 0 ? <li class="quiet">{said.noLinks}</li> : null}
      </ul>
      {shares.length === 0 ? null : (
        <p>
          <Revoke
            button={said.revokeShares}
            title={said.revokeShares}
            text={said.revokeSharesText}
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

/** Nobody can give a revoked key or link back, so it is asked first. */
function Revoke({ button, title, text, run }: RevokeProps) {
  const asking = useSignal(false)
  return (
    <>
      <Button onClick={() => (asking.value = true)}>{button}…</Button>
      <Confirm
        title={title}
        open={asking.value}
        onClose={() => (asking.value = false)}
        button={button}
        danger
        run={run}
        onDone={() => showToast(words.value.people.revoked, { forMs: REVOKED_MS })}
      >
        <p>{text}</p>
      </Confirm>
    </>
  )
}
