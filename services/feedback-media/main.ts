import { runService } from '#shared/service.ts'
import { createFeedbackMedia } from './app.ts'

await runService(createFeedbackMedia)
