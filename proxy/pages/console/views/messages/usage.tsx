import { number, oneDigit } from '../../clock.ts'
import { useResource } from '../../resource.ts'
import { client } from '../../session.ts'
import { fill, words } from '../../words.ts'

const EVERY_MS = 300_000

/** The month's quota as a bar. */
export function Usage() {
  const said = words.value.messages
  const usage = useResource((signal) => client.readLineUsage({}, { signal }), EVERY_MS, 'usage').value.value
  if (usage === null) return null
  if (!usage.configured) return <p class="small quiet">{words.value.now.notConfigured}</p>
  const { quota, consumption, usage_percent, followers } = usage
  return (
    <p class="row small quiet">
      {quota.value === null || usage_percent === null ? (
        <span>{said.unlimited}</span>
      ) : (
        <>
          <meter min={0} max={100} high={90} value={usage_percent} aria-label={said.quota} />
          <span>
            {fill(said.used, {
              used: number(consumption.total_usage ?? 0),
              value: number(quota.value),
              percent: oneDigit(usage_percent),
            })}
          </span>
        </>
      )}
      {followers === null ? null : <span>{fill(said.followers, { count: number(followers) })}</span>}
    </p>
  )
}
