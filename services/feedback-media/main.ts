import { runService } from '#shared/service/service.ts'
import { createFeedbackMedia } from './app.ts'

await runService(createFeedbackMedia)
