import { runService } from '#shared/service.ts'
import { createSurveyProfile } from './app.ts'

await runService(createSurveyProfile)
