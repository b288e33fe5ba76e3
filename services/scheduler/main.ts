import { runService } from '#shared/service/service.ts'
import { createScheduler } from './app.ts'

await runService(createScheduler)
