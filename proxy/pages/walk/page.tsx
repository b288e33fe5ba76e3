/** The pilgrims' app. */
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
import { view } from './route.ts'
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
      <Current words={words} choose={choose} />
      <Tabs words={words.walk} />
      <DarkScreen words={words.walk} />
    </>
  )
}

function Current({ words: { page, walk }, choose }: Shown) {
  switch (view.value) {
    case 'way':
      return <Way words={walk} levels={page.levels} />
    case 'map':
      return <LargeMap words={walk} />
    case 'say':
      return <Say words={walk} />
    case 'me':
      return <Me words={{ page, walk }} choose={choose} />
    case 'survey':
      return <Survey words={walk} />
    case 'feedback':
      return <Feedback words={walk} />
    case 'code':
      return <RecoveryCode words={walk} />
    case 'trackers':
      return <Trackers words={walk} />
    case 'data':
      return <OwnData words={walk} page={page} />
    case 'share':
      return <ShareLinks words={walk} />
    case 'pauses':
      return <Pauses words={walk} />
    case 'restore':
    case 'walk':
      return <Walk words={walk} levels={page.levels} />
  }
}

worksOffline()
startSession()
void startPage(WORD_FILES, ({ words, choose }) => <App words={words.value} choose={choose} />)
