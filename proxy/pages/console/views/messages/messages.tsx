/** Messages: write one, see what was sent, and what is scheduled. */
import { words } from '../../words.ts'
import { Compose } from './compose.tsx'
import { SentMessages } from './sent-messages.tsx'
import { Schedule } from './schedule.tsx'

export const Messages = () => (
  <div class="view messages">
    <h1 class="visually-hidden">{words.value.messages.title}</h1>
    <Compose />
    <SentMessages />
    <Schedule />
  </div>
)
