import { runService } from '#shared/runtime/service.ts'
import { createScheduler } from './app.ts'

await runService(createScheduler)
