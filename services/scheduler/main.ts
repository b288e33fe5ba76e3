import { runService } from '#shared/service.ts'
import { createScheduler } from './app.ts'

await runService(createScheduler)
