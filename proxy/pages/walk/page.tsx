/** The pilgrims' app. */
import type { ComponentChild } from 'preact'
import type { Language } from '#shared/contracts/bot.ts'
import { startPage, worksOffline } from '../frame/start-page.tsx'
import { DarkScreen } from './views/dark-screen.tsx'
import { OwnData } from './views/data.tsx'
import { Feedback } from './views/feedback.tsx'
import { Gone } from './views/gone.tsx'
import { LargeMap } from './views/large-map.tsx'
import { Me } from './views/me.tsx'
import { Pauses } from './views/record.tsx'
import { RecoveryCode } from './views/code.tsx'
import { Restore } from './views/restore.tsx'
import { Say } from './views/say.tsx'
import { ShareLinks } from './views/shares.tsx'
import { NewConsent, Status, StatusForNewcomers } from './views/status.tsx'
import { Survey } from './views/survey.tsx'
import { Tabs } from './views/tabs.tsx'
import { Trackers } from './views/trackers.tsx'
import { Walk } from './views/walk.tsx'
import { Way } from './views/way.tsx'
import { Welcome } from './views/welcome.tsx'
import { type View, view } from './route.ts'
import { startSession } from './session/start-session.ts'
import { person } from './session/person.ts'
import { erasedElsewhere } from './session/service.ts'
import { type Words, WORD_FILES } from './words.ts'

interface Shown {
  readonly words: Words
  readonly choose: (language: Language) => void
}

const App = ({ words, choose }: Shown) => {
  if (view.value === 'restore') return <Restore words={words.walk} />
  if (person.value === null)
    return (
      <>
        <StatusForNewcomers words={words.walk} />
        <Welcome words={words} choose={choose} />
      </>
    )
  if (erasedElsewhere.value) return <Gone words={words.walk} />
  return (
    <>
      <Status words={words.walk} />
      <NewConsent words={words.walk} />
      {VIEW_OF[view.value](words, choose)}
      <Tabs words={words.walk} />
      <DarkScreen words={words.walk} />
    </>
  )
}

const VIEW_OF: Readonly<Record<View, (words: Words, choose: Shown['choose']) => ComponentChild>> = {
  walk: ({ page, walk }) => <Walk words={walk} levels={page.levels} />,
  restore: ({ walk }) => <Restore words={walk} />,
  way: ({ page, walk }) => <Way words={walk} levels={page.levels} />,
  map: ({ page, walk }) => <LargeMap words={walk} page={page} />,
  say: ({ walk }) => <Say words={walk} />,
  me: (words, choose) => <Me words={words} choose={choose} />,
  survey: ({ walk }) => <Survey words={walk} />,
  feedback: ({ walk }) => <Feedback words={walk} />,
  code: ({ walk }) => <RecoveryCode words={walk} />,
  trackers: ({ walk }) => <Trackers words={walk} />,
  data: ({ page, walk }) => <OwnData words={walk} page={page} />,
  share: ({ walk }) => <ShareLinks words={walk} />,
  pauses: ({ walk }) => <Pauses words={walk} />,
}

worksOffline()
startSession()
void startPage(WORD_FILES, ({ words, choose }) => <App words={words.value} choose={choose} />)
