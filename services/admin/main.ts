import { runService } from '#shared/runtime/service.ts'
import { createAdmin } from './app.ts'

await runService(createAdmin)
