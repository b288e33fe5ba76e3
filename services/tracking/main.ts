import { runService } from '#shared/runtime/service.ts'
import { createTracking } from './app.ts'

await runService(createTracking)
