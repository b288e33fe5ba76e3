import { runService } from '#shared/service/service.ts'
import { createSurveyProfile } from './app.ts'

await runService(createSurveyProfile)
