import { runService } from '#shared/service.ts'
import { createAdmin } from './app.ts'

await runService(createAdmin)
