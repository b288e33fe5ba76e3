/** The chapters of the documentation: one for each service. */
import type { ServiceName } from '#shared/contracts/endpoint.ts'

export const TAGS: Record<ServiceName, { readonly name: string; readonly description: string }> = {
  tracking: { name: 'Check-ins, tracks, map', description: 'What phones send while their owners walk' },
  'survey-profile': { name: 'Profile and survey', description: 'What pilgrims say about themselves' },
  'feedback-media': { name: 'Feedback and cards', description: 'Reports, screenshots and share cards' },
  admin: {
    name: 'Operation',
    description: 'The state of the event, reports, people, and this documentation',
  },
  'line-bot': { name: 'Messages', description: 'The LINE bot: webhook, menus, messages to pilgrims' },
  scheduler: { name: 'Schedule', description: 'What the service does by itself' },
}
