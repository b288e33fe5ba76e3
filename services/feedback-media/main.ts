import { runService } from '#shared/runtime/service.ts'
import { createFeedbackMedia } from './app.ts'

await runService(createFeedbackMedia)
