/** The pilgrims' app. */
import type { ComponentChild } from 'preact'
import { startPage, worksOffline } from '../frame/start-page.tsx'
import { DarkScreen } from './views/dark-screen.tsx'
import { OwnData } from './views/data.tsx'
import { Display } from './views/display.tsx'
import { Feedback } from './views/feedback.tsx'
import { Gone } from './views/erased.tsx'
import { LargeMap } from './views/large-map.tsx'
import { Me } from './views/me.tsx'
import { Pauses } from './views/record.tsx'
import { RecoveryCode } from './views/recovery-code.tsx'
import { Restore } from './views/restore.tsx'
import { Say } from './views/feedback-tab.tsx'
import { ShareLinks } from './views/shares.tsx'
import { EventStatus, NewConsent, Status } from './views/status.tsx'
import { Survey } from './views/survey.tsx'
import { Tabs } from './views/tabs.tsx'
import { Trackers } from './views/trackers.tsx'
import { Walk } from './views/walk.tsx'
import { Way } from './views/my-walk.tsx'
import { Welcome } from './views/welcome.tsx'
import { type View, view } from './route.ts'
import { startSession } from './session/start-session.ts'
import { person } from './session/person.ts'
import { erasedElsewhere } from './session/service.ts'

const App = () => {
  if (view.value === 'restore') return <Restore />
  if (person.value === null)
    return (
      <>
        {/* Of a pause or the end a newcomer learns before anything else. */}
        <div class="status">
          <EventStatus />
        </div>
        <Welcome />
      </>
    )
  if (erasedElsewhere.value) return <Gone />
  return (
    <>
      <Status />
      <NewConsent />
      {VIEW_OF[view.value]()}
      <Tabs />
      <DarkScreen />
    </>
  )
}

const VIEW_OF: Readonly<Record<View, () => ComponentChild>> = {
  walk: () => <Walk />,
  restore: () => <Restore />,
  way: () => <Way />,
  map: () => <LargeMap />,
  say: () => <Say />,
  me: () => <Me />,
  survey: () => <Survey />,
  feedback: () => <Feedback />,
  code: () => <RecoveryCode />,
  trackers: () => <Trackers />,
  data: () => <OwnData />,
  display: () => <Display />,
  share: () => <ShareLinks />,
  pauses: () => <Pauses />,
}

worksOffline()
startSession()
void startPage(() => <App />)
