import { runService } from '#shared/service/service.ts'
import { createAdmin } from './app.ts'

await runService(createAdmin)
