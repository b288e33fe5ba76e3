/** Trackers and links of a pilgrim, which an operator ends when a phone is lost. */
import { Button } from '../../../design/button.tsx'
import { date } from '../../clock.ts'
import { act } from '../../parts/act.ts'
import { client } from '../../session.ts'
import { fill, words } from '../../words.ts'
import type { Detail } from './detail.ts'

export const PersonLinks = ({ person: { userId, trackers, shares } }: { readonly person: Detail }) => {
  const said = words.value.people
  const revoked = () => said.revoked
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
            <Button onClick={() => void act(client.revokeTrackerOfUser({ userId, id }), revoked)}>
              {said.revoke}
            </Button>
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
          <Button onClick={() => void act(client.revokeSharesOfUser({ userId }), revoked)}>
            {said.revokeShares}
          </Button>
        </p>
      )}
    </>
  )
}
