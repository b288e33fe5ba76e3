import { runService } from '#shared/service.ts'
import { createTracking } from './app.ts'

await runService(createTracking)
