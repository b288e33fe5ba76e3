/** The switch for the organisers' messages on this phone. */
import type { WalkWords } from '#shared/locales/words.ts'
import { Button } from '../../design/button.tsx'
import {
  canHear,
  device,
  hear,
  hearError,
  needsInstall,
  stopHearing,
  switching,
} from '../notifications/web-push.ts'
import { notDoneSentence } from '../problem.ts'
import { show } from '../route.ts'
import { config } from '../session/service.ts'
import { Notice } from './view.tsx'

export function Hear({ words }: { readonly words: WalkWords }) {
  const said = words.hear
  if ((config.value?.push_key ?? null) === null || (!canHear() && !needsInstall())) return null
  const error = hearError.value
  const on = device.value !== null
  return (
    <section class="card stack-2">
      <h2>{said.title}</h2>
      <p aria-live="polite">{on ? said.isOn : said.why}</p>
      {error === null ? null : (
        <Notice kind="warning">
          {typeof error === 'string' ? said[error] : notDoneSentence(words, error)}
        </Notice>
      )}
      {needsInstall() ? (
        <>
          <p>{said.install}</p>
          <Button onClick={() => show('code')}>{words.recovery.remindButton}</Button>
        </>
      ) : (
        <Button busy={switching.value} onClick={() => void (on ? stopHearing() : hear())}>
          {on ? said.stop : said.start}
        </Button>
      )}
    </section>
  )
}
