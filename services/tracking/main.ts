import { runService } from '#shared/service/service.ts'
import { createTracking } from './app.ts'

await runService(createTracking)
