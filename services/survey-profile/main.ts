import { runService } from '#shared/runtime/service.ts'
import { createSurveyProfile } from './app.ts'

await runService(createSurveyProfile)
