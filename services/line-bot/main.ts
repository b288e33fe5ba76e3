import { runService } from '#shared/service.ts'
import { createLineBot } from './app.ts'

await runService(createLineBot)
