/** Emergency numbers: the public one and the organisers' phone. Renders nothing if neither is set. */
import { telephoneUri } from '#shared/core/rules/telephone.ts'
import { config } from '../session/service.ts'
import { words } from '../words.ts'

export function EmergencyNumbers() {
  const { emergency } = words.value
  // A configuration stored by an older release has neither.
  const number = config.value?.emergency_number ?? null
  const organisers = config.value?.organiser_phone ?? null
  return (
    <>
      {number === null ? null : <Call text={emergency.call} number={number} />}
      {organisers === null ? null : <Call text={emergency.organisers} number={organisers} />}
    </>
  )
}

const Call = ({ text, number }: { readonly text: string; readonly number: string }) => (
  <p class="strong">
    {text}{' '}
    <a class="button" href={telephoneUri(number)}>
      {number}
    </a>
  </p>
)
